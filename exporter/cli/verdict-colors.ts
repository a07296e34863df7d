import { styleText } from 'node:util';

type Color = 'green' | 'red' | 'yellow';

/** The words that a terminal shows in color, and nothing else. */
const COLORS: Readonly<Record<string, Color>> = {
  ...{ met: 'green', 'NOT MET': 'red', undecided: 'yellow' },
  ...{ improved: 'green', unchanged: 'green', regressed: 'red', suspect: 'yellow' },
  ...{ ok: 'green', saturated: 'red', exact: 'green', 'not exact': 'yellow', unknown: 'yellow' },
  ...{ holds: 'green', fails: 'red' },
  ...{ completed: 'green', aborted: 'yellow', failed: 'red' },
};

/** Puts a verdict in color; any other text stays as it is. */
export type Paint = (verdict: string) => string;

export const PLAIN: Paint = (verdict) => verdict;

/** As the stream's terminal and NO_COLOR, FORCE_COLOR, NODE_DISABLE_COLORS and TERM want it. */
export function paintOn(stream: NodeJS.WriteStream): Paint {
  return (verdict) => {
    const color = Object.hasOwn(COLORS, verdict) ? COLORS[verdict] : undefined;
    return color === undefined ? verdict : styleText(color, verdict, { stream });
  };
}

/** Every verdict in its color, as a stream with colors gets it. */
export const COLORED_VERDICTS: readonly string[] = Object.entries(COLORS).map(([verdict, color]) =>
  styleText(color, verdict, { validateStream: false }),
);
