import { metadataLines, sampleLines, type PageFormat } from '../../core/exposition/index.ts';

const READABLE = {
  name: 'llmbench_storage_readable',
  help: 'Whether the object storage of the runs could be read at the last look: 1 or 0. Absent without object storage.',
  type: 'gauge',
} as const;

/** The lines of `llmbench_storage_readable`, without the end of a page. */
export function storageReadableLines(isReadable: boolean, format: PageFormat): string {
  const family = { ...READABLE, samples: [{ labels: {}, value: isReadable ? 1 : 0 }] };
  return metadataLines(family, format) + sampleLines(family);
}
