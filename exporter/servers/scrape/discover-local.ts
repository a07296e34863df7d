import { KNOWN_ENDPOINTS } from './known-endpoints.ts';
import { PageClient } from './page-request.ts';
import { systemOf } from './recognize.ts';
import { parseTarget, type Target } from './targets.ts';

const LIMITS = {
  connectTimeoutSeconds: 1,
  readTimeoutSeconds: 2,
  totalTimeoutSeconds: 4,
  maxBytes: 16 * 1024 * 1024,
};

/** Addresses on this machine where known systems serve their metrics by default. */
export function localAddresses(): string[] {
  const addresses = Object.values(KNOWN_ENDPOINTS).flatMap(({ ports, path }) =>
    ports.map((port) => `http://127.0.0.1:${port}${path}`),
  );
  return [...new Set(addresses)];
}

/** The addresses that currently serve the metrics of a known system. */
export async function discoverLocal(addresses: readonly string[] = localAddresses()): Promise<Target[]> {
  const client = new PageClient(LIMITS, () => performance.now() * 1e6);
  try {
    const found = await Promise.all(
      addresses.map(async (address) => ((await isKnown(client, address)) ? [address] : [])),
    );
    return found.flat().map(parseTarget);
  } finally {
    await client.close();
  }
}

async function isKnown(client: PageClient, address: string): Promise<boolean> {
  const page = await client.get(address);
  return page.kind === 'page' && systemOf(new TextDecoder().decode(page.bytes)) !== null;
}
