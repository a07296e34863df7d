import { measureText } from '@grafana/ui';

const FONT_SIZE = 12;
const LINE_HEIGHT = 18;
const PADDING = 16;
/** Words do not fill a line to its end, and a typeface that is loaded later may be wider than the one measured. */
const FILL = 0.84;

/** Height in pixels of texts that wrap within a width, one below the other. */
export function textHeight(texts: readonly string[], width: number): number {
  const room = Math.max(1, (width - PADDING) * FILL);
  const rows = texts.map((text) => Math.max(1, Math.ceil(measureText(text, FONT_SIZE).width / room)));
  return rows.reduce((total, count) => total + count * LINE_HEIGHT, 0);
}
