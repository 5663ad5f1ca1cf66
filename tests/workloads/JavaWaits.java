// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Phaser;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that wait for each other. "barriers": CyclicBarrier, CountDownLatch, Phaser, invokeAll(), and a barrier of a monitor.
 * "others": a queue, a contended lock, a contended monitor, garbage collection, and timers. With --wait-start it first prints a
 * line and reads one.
 */
public class JavaWaits {
	static final int TEAM = 4, ROUNDS = 60;

	interface Member {
		void run(int member) throws Exception;
	}

	static void inTeam(Member body) throws Exception {
		Thread[] threads = new Thread[TEAM];

		for (int i = 0; i < TEAM; i++) {
			final int member = i;

			threads[i] = new Thread(() -> {
				try {
					body.run(member);
				} catch (Exception e) {
					Runtime.getRuntime().halt(1);
				}
			});
			threads[i].start();
		}
		for (Thread thread : threads)
			thread.join();
	}

	static void pause(int member) throws InterruptedException {
		TimeUnit.MICROSECONDS.sleep(200 * member);
	}

	static void cyclic() throws Exception {
		CyclicBarrier barrier = new CyclicBarrier(TEAM);

		inTeam(member -> {
			for (int r = 0; r < ROUNDS; r++) {
				pause(member);
				barrier.await();
			}
		});
	}

	static void phaser() throws Exception {
		Phaser phaser = new Phaser(TEAM);

		inTeam(member -> {
			for (int r = 0; r < ROUNDS; r++) {
				pause(member);
				phaser.arriveAndAwaitAdvance();
			}
		});
	}

	static void pools() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(TEAM);

		for (int r = 0; r < ROUNDS; r++) {
			CountDownLatch latch = new CountDownLatch(TEAM);
			List<Callable<Integer>> tasks = new ArrayList<>();

			for (int i = 0; i < TEAM; i++) {
				final int member = i;

				pool.submit(() -> {
					pause(member);
					latch.countDown();
					return 0;
				});
				tasks.add(() -> {
					pause(member);
					return 0;
				});
			}
			latch.await();
			pool.invokeAll(tasks);
		}
		pool.shutdown();
	}

	static final Object MONITOR = new Object();
	static int arrived, round;

	static void cross() throws InterruptedException {
		synchronized (MONITOR) {
			int mine = round;

			if (++arrived == TEAM) {
				arrived = 0;
				round++;
				MONITOR.notifyAll();
			} else {
				while (mine == round)
					MONITOR.wait();
			}
		}
	}

	static void monitor() throws Exception {
		inTeam(member -> {
			for (int r = 0; r < ROUNDS; r++) {
				pause(member);
				cross();
			}
		});
	}

	static volatile long sink;

	static void work(int n) {
		long sum = 0;

		for (int i = 0; i < n; i++)
			sum += (long) i * i;
		sink = sum;
	}

	static void queue() throws Exception {
		BlockingQueue<Integer> tasks = new ArrayBlockingQueue<>(TEAM);

		inTeam(member -> {
			if (member > 0) {
				for (int n = tasks.take(); n >= 0; n = tasks.take())
					work(n);
				return;
			}
			for (int n = 0; n < 3000; n++)
				tasks.put(n);
			for (int i = 1; i < TEAM; i++)
				tasks.put(-1);
		});
	}

	static void locks() throws Exception {
		ReentrantLock lock = new ReentrantLock();

		inTeam(member -> {
			for (int i = 0; i < 3000; i++) {
				lock.lock();
				try {
					work(300);
				} finally {
					lock.unlock();
				}
				synchronized (MONITOR) {
					work(300);
				}
			}
		});
	}

	static void garbage() throws Exception {
		inTeam(member -> {
			for (int i = 0; i < 100; i++) {
				List<byte[]> list = new ArrayList<>();

				for (int k = 0; k < 200; k++)
					list.add(new byte[2000]);
				sink = list.size();
			}
		});
		for (int i = 0; i < 5; i++)
			System.gc();
	}

	static void timers() throws Exception {
		ScheduledExecutorService pool = Executors.newScheduledThreadPool(TEAM);

		for (int i = 0; i < 2 * TEAM; i++)
			pool.scheduleAtFixedRate(() -> work(1000), 1, 2, TimeUnit.MILLISECONDS);
		Thread.sleep(100);
		pool.shutdownNow();
	}

	public static void main(String[] args) throws Exception {
		if (args.length > 1 && args[1].equals("--wait-start")) {
			System.out.println("ready");
			System.in.read();
		}
		if (args[0].equals("others")) {
			queue();
			locks();
			garbage();
			timers();
		} else {
			cyclic();
			phaser();
			pools();
			monitor();
		}
		System.out.println("JavaWaits: ok");
	}
}
