import type { PanelKind, PanelSpec } from './panel-spec.ts';
import type { Size } from './draw-panel.ts';

const SCREEN_WIDTH = 24;
const PER_LINE: Readonly<Record<PanelKind, number>> = { number: 4, lines: 3, stacked: 3, heatmap: 1, table: 1 };
const HEIGHT: Readonly<Record<PanelKind, number>> = { number: 4, lines: 8, stacked: 8, heatmap: 9, table: 6 };

/** Gives each panel of a row its size: neighbors of like height share lines that are filled from edge to edge. */
export function sizes(panels: readonly PanelSpec[]): Size[] {
  const lines: PanelSpec[][] = [];
  for (const panel of panels) {
    const line = lines.at(-1);
    const [first] = line ?? [];
    const fits = first !== undefined && HEIGHT[first.kind] === HEIGHT[panel.kind];
    if (line !== undefined && fits && line.length < PER_LINE[panel.kind]) line.push(panel);
    else lines.push([panel]);
  }
  return lines.flatMap((line) => {
    const each = Math.floor(SCREEN_WIDTH / line.length);
    return line.map(({ kind }, index) => ({
      width: index === line.length - 1 ? SCREEN_WIDTH - each * (line.length - 1) : each,
      height: HEIGHT[kind],
    }));
  });
}
