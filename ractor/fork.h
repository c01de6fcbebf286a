#ifndef LOCKFREE_RACTOR_FORK_H
#define LOCKFREE_RACTOR_FORK_H
/* ractor/fork.h - fork a process whose Ractors run; see ractor/fork.c.  Licence: see LICENSE. */

struct rb_ractor_struct;
struct rb_thread_struct;
struct rb_io;

void rb_ractor_flush_before_fork(void);
void rb_ractor_await_exec(int fd);
void rb_ractor_before_fork(void);
void rb_ractor_after_fork(void);
void rb_exec_stop_timer_thread(void);
void rb_exec_start_timer_thread(void);
void rb_ractor_atfork_first(struct rb_thread_struct *th);
void rb_ractor_atfork_last(struct rb_thread_struct *th);
int rb_fork_daemon(int (*daemon)(int nochdir, int noclose), int nochdir, int noclose);
struct rb_io *rb_io_unlink_fptr(VALUE io);
void rb_io_note_writer(struct rb_io *fptr);
bool rb_io_left_to_parent_p(const struct rb_io *fptr);
void rb_ractor_local_storage_atfork(struct rb_ractor_struct *main_r, struct rb_ractor_struct *cr); /* ractor/local_storage.h */

#endif /* LOCKFREE_RACTOR_FORK_H */
