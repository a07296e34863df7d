import { KV_BYTES_PER_TOKEN } from '../kv-bytes.ts';

const BYTES_PER_SECOND = 20e9;
const HANDSHAKE_SECONDS = 0.002;

/** What moving the KV cache of a prompt from a context to a generation server takes, when they are two. */
export function kvTransfer({ promptTokens }: { promptTokens: number }): { bytes: number; seconds: number } {
  const bytes = promptTokens * KV_BYTES_PER_TOKEN;
  return { bytes, seconds: HANDSHAKE_SECONDS + bytes / BYTES_PER_SECOND };
}
