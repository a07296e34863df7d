/* A paced OpenAI-compatible stream on one thread. The id of every event is the monotonic clock in nanoseconds (19 digits)
 * at which it was written, so that a client on the same machine can measure how late it reads.
 *
 * usage: paced-server PORT
 * POST /v1/chat/completions?n=TOKENS&t=TTFT&i=ITL&y=TICK&j=JITTER    (times in microseconds)
 *   The first event is due TTFT after the request plus up to JITTER, the others ITL apart; with TICK all streams write at
 *   the same moments, TICK apart; with neither as fast as possible. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 70000, REQUEST_BYTES = 8192, EVENT_BYTES = 1024, EVENTS_AT_ONCE = 512, WRITES_AT_ONCE = 256, STAMP_DIGITS = 19 };

typedef struct {
  int fd;
  int streaming;
  int tokens, sent;
  uint64_t itl, tick; /* nanoseconds */
  uint64_t due;       /* of the next event */
  int heap_index;     /* -1: not in the heap */
  unsigned seed;
  char request[REQUEST_BYTES];
  int request_length;
  char *unsent; /* what the socket did not take */
  int unsent_length, unsent_offset, waits_for_writable;
} Connection;

typedef struct {
  char bytes[EVENT_BYTES];
  int length;
  int stamp_offset;
} Event;

static Connection *connections[MAX_CONNECTIONS]; /* by descriptor */
static int epoll;
static Event token_event, usage_event;

static const char RESPONSE_HEAD[] =
    "HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
static const char STREAM_END[] = "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";
static const char BEFORE_STAMP[] = "data: {\"id\":\"chatcmpl-";
#define COMMON "\",\"object\":\"chat.completion.chunk\",\"created\":1763625600,\"model\":\"meta-llama/Llama-3.1-8B-Instruct\","
static const char TOKEN[] = COMMON "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" token\"},\"logprobs\":null,"
                                   "\"finish_reason\":null,\"token_ids\":null}]}\n\n";
static const char USAGE[] = COMMON "\"choices\":[],\"usage\":{\"prompt_tokens\":128,\"total_tokens\":256,\"completion_tokens\":128}}\n\n";

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ull + time.tv_nsec;
}

/* A binary heap of streams by due time. */

static Connection **heap;
static int heap_length, heap_capacity;

static void heap_place(int index, Connection *connection) {
  heap[index] = connection;
  connection->heap_index = index;
}

static void heap_swap(int a, int b) {
  Connection *connection = heap[a];
  heap_place(a, heap[b]);
  heap_place(b, connection);
}

static void heap_up(int index) {
  for (; index > 0 && heap[(index - 1) / 2]->due > heap[index]->due; index = (index - 1) / 2) heap_swap(index, (index - 1) / 2);
}

static void heap_down(int index) {
  for (;;) {
    int first = index, left = 2 * index + 1, right = left + 1;
    if (left < heap_length && heap[left]->due < heap[first]->due) first = left;
    if (right < heap_length && heap[right]->due < heap[first]->due) first = right;
    if (first == index) return;
    heap_swap(index, first);
    index = first;
  }
}

static void heap_add(Connection *connection) {
  if (heap_length == heap_capacity) {
    heap_capacity = heap_capacity ? 2 * heap_capacity : 1024;
    heap = realloc(heap, heap_capacity * sizeof *heap);
  }
  heap_place(heap_length, connection);
  heap_up(heap_length++);
}

static void heap_remove(Connection *connection) {
  int index = connection->heap_index;
  if (index < 0) return;
  connection->heap_index = -1;
  if (index == --heap_length) return;
  heap_place(index, heap[heap_length]);
  heap_down(index);
  heap_up(index);
}

/* Connections. */

static void watch(int fd, uint32_t events, int operation) {
  struct epoll_event event = {.events = events, .data.fd = fd};
  epoll_ctl(epoll, operation, fd, &event);
}

static void accept_all(int listener) {
  int fd, one = 1;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    if (fd >= MAX_CONNECTIONS) {
      close(fd);
      continue;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    Connection *connection = calloc(1, sizeof *connection);
    connection->fd = fd;
    connection->seed = fd * 7919;
    connection->heap_index = -1;
    connections[fd] = connection;
    watch(fd, EPOLLIN, EPOLL_CTL_ADD);
  }
}

static void close_connection(Connection *connection) {
  heap_remove(connection);
  connections[connection->fd] = NULL;
  close(connection->fd);
  free(connection->unsent);
  free(connection);
}

static void keep_unsent(Connection *connection, const char *bytes, int length) {
  connection->unsent = realloc(connection->unsent, connection->unsent_length + length);
  memcpy(connection->unsent + connection->unsent_length, bytes, length);
  connection->unsent_length += length;
  if (connection->waits_for_writable) return;
  connection->waits_for_writable = 1;
  watch(connection->fd, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
}

/* -1: the connection is broken. */
static int send_bytes(Connection *connection, const char *bytes, int length) {
  ssize_t written = 0;
  if (connection->unsent_length == 0) {
    written = write(connection->fd, bytes, length);
    if (written < 0 && errno != EAGAIN) return -1;
    if (written < 0) written = 0;
  }
  if (written < length) keep_unsent(connection, bytes + written, length - written);
  return 0;
}

static int send_unsent(Connection *connection) {
  ssize_t written = write(connection->fd, connection->unsent + connection->unsent_offset,
                          connection->unsent_length - connection->unsent_offset);
  if (written < 0) return errno == EAGAIN ? 0 : -1;
  connection->unsent_offset += written;
  if (connection->unsent_offset < connection->unsent_length) return 0;
  connection->unsent_length = connection->unsent_offset = connection->waits_for_writable = 0;
  watch(connection->fd, EPOLLIN, EPOLL_CTL_MOD);
  if (connection->streaming && connection->heap_index < 0) heap_add(connection);
  return 0;
}

/* Events. */

static void make_event(Event *event, const char *after_stamp) {
  int length = strlen(BEFORE_STAMP) + STAMP_DIGITS + strlen(after_stamp);
  int head = sprintf(event->bytes, "%x\r\n", length);
  event->stamp_offset = head + strlen(BEFORE_STAMP);
  event->length = head + sprintf(event->bytes + head, "%s%0*d%s\r\n", BEFORE_STAMP, STAMP_DIGITS, 0, after_stamp);
}

/* The event with the present time in it. */
static int stamped(char *bytes, const Event *event) {
  memcpy(bytes, event->bytes, event->length);
  uint64_t rest = now();
  for (int i = STAMP_DIGITS - 1; i >= 0; i--, rest /= 10) bytes[event->stamp_offset + i] = '0' + rest % 10;
  return event->length;
}

static int send_next(Connection *connection) {
  char bytes[2 * EVENT_BYTES];
  if (send_bytes(connection, bytes, stamped(bytes, &token_event)) < 0) return -1;
  if (++connection->sent < connection->tokens) return 0;
  connection->streaming = 0;
  int length = stamped(bytes, &usage_event);
  memcpy(bytes + length, STREAM_END, strlen(STREAM_END));
  return send_bytes(connection, bytes, length + strlen(STREAM_END));
}

/* Requests. */

static long parameter(const char *line, const char *end, char name, long otherwise) {
  for (const char *at = line; at + 2 < end; at++)
    if ((at[0] == '?' || at[0] == '&') && at[1] == name && at[2] == '=') return atol(at + 3);
  return otherwise;
}

static long content_length(const char *head, const char *end) {
  static const char NAME[] = "\ncontent-length:";
  for (const char *at = head; at + sizeof NAME < end; at++)
    if (strncasecmp(at, NAME, sizeof NAME - 1) == 0) return atol(at + sizeof NAME - 1);
  return 0;
}

/* Starts a stream when a whole request has been read. -1: the connection is broken. */
static int start_stream(Connection *connection) {
  char *request = connection->request;
  char *end = memmem(request, connection->request_length, "\r\n\r\n", 4);
  if (end == NULL) return 0;
  int length = end - request + 4 + content_length(request, end);
  if (connection->request_length < length) return 0;
  const char *line_end = memchr(request, '\r', connection->request_length);
  connection->tokens = parameter(request, line_end, 'n', 16);
  connection->itl = parameter(request, line_end, 'i', 0) * 1000ull;
  connection->tick = parameter(request, line_end, 'y', 0) * 1000ull;
  uint64_t ttft = parameter(request, line_end, 't', 0) * 1000ull;
  uint64_t jitter = parameter(request, line_end, 'j', 0) * 1000ull;
  connection->request_length -= length;
  memmove(request, request + length, connection->request_length);
  connection->sent = 0;
  connection->streaming = 1;
  if (send_bytes(connection, RESPONSE_HEAD, strlen(RESPONSE_HEAD)) < 0) return -1;
  connection->due = now() + ttft + (jitter ? rand_r(&connection->seed) % 1000 * (jitter / 1000) : 0);
  if (connection->tick) connection->due = (connection->due / connection->tick + 1) * connection->tick;
  heap_add(connection);
  return 0;
}

static int read_request(Connection *connection) {
  ssize_t length = read(connection->fd, connection->request + connection->request_length, REQUEST_BYTES - connection->request_length);
  if (length < 0) return errno == EAGAIN ? 0 : -1;
  if (length == 0) return -1;
  connection->request_length += length;
  return connection->streaming ? 0 : start_stream(connection);
}

/* The loop. */

static void handle(uint32_t events, Connection *connection) {
  if (events & EPOLLOUT && connection->unsent_length && send_unsent(connection) < 0) {
    close_connection(connection);
    return;
  }
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && read_request(connection) < 0) close_connection(connection);
}

/* Writes events that are due, not so many that requests wait. */
static void write_due(void) {
  uint64_t time = now();
  for (int i = 0; i < WRITES_AT_ONCE && heap_length > 0 && heap[0]->due <= time; i++) {
    Connection *connection = heap[0];
    if (send_next(connection) < 0) {
      close_connection(connection);
    } else if (!connection->streaming) {
      heap_remove(connection);
      if (connection->request_length && start_stream(connection) < 0) close_connection(connection);
    } else if (connection->unsent_length) {
      heap_remove(connection); /* until the socket takes more */
    } else {
      uint64_t step = connection->tick ? connection->tick : connection->itl;
      connection->due = step ? connection->due + step : time + 1;
      heap_down(0);
    }
  }
}

static int listen_on(int port) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (void *)&address, sizeof address) || listen(listener, 4096)) {
    perror("paced-server");
    exit(1);
  }
  return listener;
}

/* Sets the timer to the first due time; returns how long epoll may wait: 0 when something is due, else forever. */
static int wait_milliseconds(int timer) {
  static uint64_t armed;
  if (heap_length == 0) return -1;
  uint64_t due = heap[0]->due;
  if (due <= now()) return 0;
  if (due != armed) {
    armed = due;
    struct itimerspec time = {.it_value = {due / 1000000000ull, due % 1000000000ull}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, NULL);
  }
  return -1;
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: paced-server PORT\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  make_event(&token_event, TOKEN);
  make_event(&usage_event, USAGE);
  int listener = listen_on(atoi(arguments[1]));
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  epoll = epoll_create1(0);
  watch(listener, EPOLLIN, EPOLL_CTL_ADD);
  watch(timer, EPOLLIN, EPOLL_CTL_ADD);
  for (;;) {
    struct epoll_event events[EVENTS_AT_ONCE];
    int ready = epoll_wait(epoll, events, EVENTS_AT_ONCE, wait_milliseconds(timer));
    for (int i = 0; i < ready; i++) {
      int fd = events[i].data.fd;
      uint64_t expirations;
      if (fd == listener) accept_all(listener);
      else if (fd == timer) (void)!read(timer, &expirations, sizeof expirations);
      else if (connections[fd] != NULL) handle(events[i].events, connections[fd]);
    }
    write_due();
  }
}
