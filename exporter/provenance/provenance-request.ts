import type { GpuPrice } from '../../core/run/provenance.ts';
import { withoutSecrets } from '../../core/run/secret-fields.ts';

/** What the user states about a run. */
export interface ProvenanceRequest {
  /** Null: not known. */
  readonly serverImage: string | null;
  readonly gpuPrice: GpuPrice | null;
  readonly gpuCount: number | null;
  /** Without secrets. */
  readonly metadata: Readonly<Record<string, string>>;
}

export const NOTHING_STATED: ProvenanceRequest = { serverImage: null, gpuPrice: null, gpuCount: null, metadata: {} };

export const MAX_METADATA_PAIRS = 32;
export const MAX_METADATA_CHARACTERS = 200;
const PAIR = /^([A-Za-z0-9][\w.-]{0,63})=([\s\S]+)$/;

/** Key and value of `key=value`, with `***` for a credential by its name or its form; null: not of this form. */
export function metadataPair(text: string): readonly [key: string, value: string] | null {
  const [, key, value] = PAIR.exec(text.trim()) ?? [];
  if (key === undefined || value === undefined) return null;
  const shown = withoutSecrets({ [key]: value });
  return [key, shown[key] ?? ''];
}
