/**
 * Resolves when the process is requested to end: Ctrl-C, SIGTERM, a closed terminal (SIGHUP), or, when another llmbench started
 * it with a channel, the end of that process, so that no child outlives a parent that was killed.
 */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      // An open channel keeps a process alive.
      if (process.connected) process.disconnect();
      resolve();
    };
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
    process.once('SIGHUP', stop);
    if (process.channel) process.once('disconnect', stop);
  });
}
