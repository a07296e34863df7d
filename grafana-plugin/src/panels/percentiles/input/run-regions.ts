import type { DataFrame } from '@grafana/data';

/** A run (or a phase of it), or a moment when `endMs` equals `startMs`. */
export interface RunRegion {
  startMs: number;
  endMs: number;
  title: string;
  /** As Grafana set it for the annotation query; null when it did not. */
  color: string | null;
}

/** Reads the dashboard's annotations (`PanelProps.data.annotations`), in order of their start. */
export function runRegions(annotations: readonly DataFrame[]): RunRegion[] {
  const regions: RunRegion[] = [];
  for (const frame of annotations) {
    const column = (name: string) => frame.fields.find((field) => field.name === name)?.values;
    const [time, timeEnd, title, text, color] = ['time', 'timeEnd', 'title', 'text', 'color'].map(column);
    for (let row = 0; row < frame.length; row++) {
      const startMs = Number(time?.[row]);
      if (!Number.isFinite(startMs)) {
        continue;
      }
      regions.push({
        startMs,
        endMs: Math.max(startMs, Number(timeEnd?.[row] ?? startMs)),
        title: plainText(String(title?.[row] || text?.[row] || '')),
        color: typeof color?.[row] === 'string' ? color[row] : null,
      });
    }
  }
  return regions.sort((a, b) => a.startMs - b.startMs);
}

/** Annotation texts may hold HTML; only their words are drawn. */
function plainText(text: string): string {
  return text.replace(/<[^>]*>/g, '').trim();
}
