import { delayText } from '../publish/remote-write/receiver.ts';

/**
 * Reports, once, that a receiver of remote write does not accept samples and for how long they are sent again. Without it, a
 * command that waits for the receiver would print nothing.
 */
export function saidDelay(say: (line: string) => void): (reason: string, seconds: number) => void {
  let isSaid = false;
  return (reason, seconds) => {
    if (isSaid) return;
    isSaid = true;
    say(delayText(reason, seconds));
  };
}
