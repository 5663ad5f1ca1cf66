// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// The program of figures 3.3 and 3.4 of the thesis, as printed there: it must compile unchanged.
// Known answer: three episodes of two threads, an anonymous barrier, "End initialization" and
// "End multiplication"; the threads are numbered 0 and 1. Line breaks and names are the thesis's.
// clang-format off
#define SBT_BARRIER    my_barrier
#define SBT_THREADID   my_id
#include <pthread.h>
#include "sbt_barrier.h"
#include <stdlib.h>
#include <stdio.h>

#define THREAD_COUNT   2
#define SIZE           512

sbt_barrier_t* SBT_BARRIER;
int A[SIZE][SIZE], B[SIZE][SIZE], C[SIZE][SIZE];

void init_block( int, int );
void matrix_multiply( int, int );

void* work( void* id )
{
    int my_id = *(int*)id;
    int row_count = SIZE/THREAD_COUNT;
    int first_row = (int)my_id*row_count;
    BARRIER;
    /* initialize my block of A and B */
    init_block( first_row, row_count );
    N_BARRIER( "End initialization" );
    /* multiply row_count rows of A by B, starting in first_row */
    matrix_multiply( first_row, row_count );
    N_BARRIER( "End multiplication" );
    return( NULL );
}

int main( int argc, char** argv )
{
    pthread_t threads[THREAD_COUNT];
    pthread_attr_t attr;
    int thread_ids[THREAD_COUNT], i;
    /* initialize SBT library and barrier */
    SBT_BARRIER = sbt_init( THREAD_COUNT, argc, argv );
    /* launch threads */
    pthread_attr_init( &attr );
    pthread_attr_setdetachstate( &attr, PTHREAD_CREATE_DETACHED );
    for( i=1; i<THREAD_COUNT; i++ ) {
        thread_ids[i] = i;
        if( pthread_create( &(threads[i]), &attr, work,
                            (void*)&(thread_ids[i]) ) ) {
            printf( "Error creating thread %d\n", i );
            return( 1 );
        }
    }
    thread_ids[0] = 0;
    work( (void*)&(thread_ids[0]) );
    /* free library resources */
    sbt_finalize();
    return( 0 );
}

void init_block( int first_row, int row_count )
{
    int i, j;
    srand( SIZE );
    for( i=0; i<SIZE; i++ ) {
        for( j=0; j<SIZE; j++ ) {
            if( i>=first_row && i<first_row+row_count ) {
                A[i][j] = (int)(100.0 * rand()/(RAND_MAX + 1.0));
                B[i][j] = (int)(100.0 * rand()/(RAND_MAX + 1.0));
            } else {
                100.0 * rand()/(RAND_MAX + 1.0);
                100.0 * rand()/(RAND_MAX + 1.0);
            }
        }
    }
}


void matrix_multiply( int first_row, int row_count )
{
    int i, j, k, comp=0;
    for( k=first_row; k<first_row+row_count; k++ ) {
        for( i=0; i<SIZE; i++ ) {
            for( j=0; j<SIZE; j++ ) {
                comp = comp + A[k][j] * B[j][i];
            }
            C[k][i] = comp;
            comp = 0;
        }
    }
}
