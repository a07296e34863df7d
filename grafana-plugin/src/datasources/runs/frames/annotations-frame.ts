import { type DataFrame, FieldType } from '@grafana/data';
import type { AnnotationsResponse, Annotation } from '../../../../../core/api/runs.ts';
import { field, text } from './field.ts';

/** Runs, phases and stages as regions. What still lasts ends with the time range. */
export function annotationsFrame({ annotations }: AnnotationsResponse, rangeEndMs: number): DataFrame {
  const texts = (read: (one: Annotation) => string) => annotations.map(read);
  return {
    name: 'annotations',
    length: annotations.length,
    fields: [
      field(
        'time',
        FieldType.time,
        annotations.map(({ time }) => time)
      ),
      field(
        'timeEnd',
        FieldType.time,
        annotations.map(({ time, timeEnd }) => timeEnd ?? Math.max(time, rangeEndMs))
      ),
      text(
        'title',
        texts(({ title }) => title)
      ),
      text(
        'text',
        texts((one) => one.text)
      ),
      field(
        'tags',
        FieldType.other,
        annotations.map(({ tags }) => tags)
      ),
      text(
        'id',
        texts(({ id }) => id)
      ),
    ],
  };
}
