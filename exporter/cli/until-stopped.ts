/**
 * Resolves when the process is requested to end: Ctrl-C, SIGTERM, a closed terminal (SIGHUP), or, when another llmbench started
 * it with a channel, the end of that process, so that no child outlives a parent that was killed. A service without a
 * terminal is not ended by SIGHUP, which requests it to reload: `reload` is called instead.
 */
export function untilStopped(reload?: () => void): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      // An open channel keeps a process alive.
      if (process.connected) process.disconnect();
      resolve();
    };
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
    if (reload === undefined || process.stdin.isTTY) process.once('SIGHUP', stop);
    else process.on('SIGHUP', reload);
    if (process.channel) process.once('disconnect', stop);
  });
}
