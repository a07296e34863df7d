import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { parseStorageUrl } from '../storage-location.ts';
import { ObjectStorage } from './object-storage.ts';

const ENDLESS = `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken></ListBucketResult>`;

test('a list that repeats itself ends with an error', async () => {
  const server = createServer((_, response) => response.end(ENDLESS)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.env['AWS_ACCESS_KEY_ID'] ??= 'key';
  process.env['AWS_SECRET_ACCESS_KEY'] ??= 'secret';
  try {
    await ObjectStorage.use(parseStorageUrl('s3://bench/team'), { endpoint, addressing: 'path' }, async (storage) => {
      await expect(storage.folders()).rejects.toThrow(/^cannot list s3:\/\/bench\/team.*: the list never ends$/);
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
