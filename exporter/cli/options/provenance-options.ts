import type { GpuPrice } from '../../../core/run/provenance.ts';
import {
  MAX_METADATA_CHARACTERS,
  metadataPair,
  MAX_METADATA_PAIRS,
  type ProvenanceRequest,
} from '../../provenance/provenance-request.ts';
import { CliError } from '../failure.ts';
import { integer, text, texts, type OptionValues } from './options.ts';

/** Facts about a run that it cannot find out itself. None of them is part of the fingerprint. */
export const PROVENANCE_OPTIONS = {
  'server-image': text(
    'IMAGE',
    'container image of the server with its digest, such as vllm/vllm-openai@sha256:…',
    null,
  ),
  'gpu-hour-price': text(
    'PRICE',
    'price of one GPU for an hour, such as 2.5EUR, for the cost per million tokens',
    null,
  ),
  'gpu-count': integer(
    'GPUs that serve the requests, for costs and values per GPU (default: those that the GPU exporters report)',
    { min: 1, max: 100_000 },
    null,
  ),
  metadata: texts('KEY=VALUE', `a fact to keep with the run; may be repeated, at most ${MAX_METADATA_PAIRS} times`),
};

/** Throws a `CliError`. */
export function statedProvenance(options: OptionValues<typeof PROVENANCE_OPTIONS>): ProvenanceRequest {
  const image = options['server-image'];
  if (image !== null && (image === '' || image.length > MAX_METADATA_CHARACTERS || /\s/.test(image)))
    throw new CliError(`--server-image must be the name of an image of at most ${MAX_METADATA_CHARACTERS} characters`);
  if (options.metadata.length > MAX_METADATA_PAIRS)
    throw new CliError(`--metadata was given ${options.metadata.length} times; at most ${MAX_METADATA_PAIRS} are kept`);
  return {
    serverImage: image,
    gpuPrice: statedPrice(options['gpu-hour-price']),
    gpuCount: options['gpu-count'],
    metadata: Object.fromEntries(options.metadata.map(pair)),
  };
}

function statedPrice(price: string | null): GpuPrice | null {
  if (price === null) return null;
  const [, amount, currency = ''] = /^(\d+(?:\.\d+)?) ?([A-Za-z]{3})?$/.exec(price) ?? [];
  const per_hour = Number(amount);
  if (amount === undefined || !(per_hour > 0))
    throw new CliError(
      `--gpu-hour-price must be an amount above 0, with or without a currency of three letters, such as 2.5EUR, not '${price}'`,
    );
  return { per_hour, currency: currency === '' ? null : currency.toUpperCase() };
}

function pair(given: string): readonly [key: string, value: string] {
  const found = metadataPair(given);
  // The value may be a secret: it is not repeated.
  if (found === null)
    throw new CliError(
      '--metadata expects KEY=VALUE with a key of at most 64 letters, digits, dots, dashes and underscores',
    );
  const [key, value] = found;
  if (value.length > MAX_METADATA_CHARACTERS)
    throw new CliError(`--metadata ${key} is longer than ${MAX_METADATA_CHARACTERS} characters`);
  return found;
}
