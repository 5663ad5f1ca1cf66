// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A program that embeds a Java virtual machine, as database servers and robotics programs do:
//   jvm_inside LIBJVM CLASS_PATH CLASS [ARGUMENT]
// calls CLASS.main(ARGUMENT). LIBJVM is opened with dlopen(), under the name given.
#include <dlfcn.h>
#include <jni.h>
#include <stdio.h>
#include <stdlib.h>

typedef jint (*create_vm)(JavaVM **vm, void **env, void *args);

static void die(const char *what)
{
	fprintf(stderr, "jvm_inside: %s\n", what);
	exit(1);
}

int main(int argc, char **argv)
{
	char option[4096];
	JavaVMOption options[] = { { option, NULL } };
	JavaVMInitArgs args = { .version = JNI_VERSION_1_8, .nOptions = 1, .options = options };
	create_vm create;
	jobjectArray words;
	jmethodID method;
	jclass class;
	JavaVM *vm;
	JNIEnv *env;
	void *library;

	if (argc < 4)
		die("LIBJVM CLASS_PATH CLASS [ARGUMENT] are expected");
	snprintf(option, sizeof(option), "-Djava.class.path=%s", argv[2]);
	library = dlopen(argv[1], RTLD_NOW);
	create = library ? (create_vm)dlsym(library, "JNI_CreateJavaVM") : NULL;
	if (!create || create(&vm, (void **)&env, &args) != JNI_OK)
		die("no virtual machine");
	class = (*env)->FindClass(env, argv[3]);
	method = class ? (*env)->GetStaticMethodID(env, class, "main", "([Ljava/lang/String;)V")
		       : NULL;
	if (!method)
		die("no class, or no main()");
	words = (*env)->NewObjectArray(env, argc - 4, (*env)->FindClass(env, "java/lang/String"),
				       NULL);
	for (int i = 4; i < argc; i++)
		(*env)->SetObjectArrayElement(env, words, i - 4,
					      (*env)->NewStringUTF(env, argv[i]));
	(*env)->CallStaticVoidMethod(env, class, method, words);
	if ((*env)->ExceptionCheck(env))
		die("main() threw");
	(*vm)->DestroyJavaVM(vm);
	return 0;
}
