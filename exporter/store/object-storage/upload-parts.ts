import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { CompletedPart, CreateMultipartUploadCommandInput } from '@aws-sdk/client-s3';
import type { S3Client, S3Sdk } from './load-sdk.ts';

/** Of parts and of files that are sent in parts; one request may hold at most 5 GiB. */
export interface PartSizes {
  readonly partBytes: number;
  readonly inPartsAbove: number;
}

const MIB = 1024 * 1024;
export const PART_SIZES: PartSizes = { partBytes: 64 * MIB, inPartsAbove: 256 * MIB };
/** By the protocol: https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html */
const MAX_PARTS = 10_000;

/** What is uploaded: bucket and key, and what the object has besides its content. */
type Destination = Pick<CreateMultipartUploadCommandInput, 'Bucket' | 'Key' | 'Metadata'>;

/**
 * Uploads a file part by part, one in memory at a time; the server compares each with its checksum. The object appears when
 * all of them are there. Throws the SDK's error; then the parts are removed, as far as the server can be reached.
 */
export async function uploadParts(
  { client, sdk }: { readonly client: S3Client; readonly sdk: S3Sdk },
  destination: Destination,
  { path, size }: { readonly path: string; readonly size: number },
  { isNew, partBytes }: { readonly isNew: boolean; readonly partBytes: number },
): Promise<void> {
  const created = await client.send(
    new sdk.CreateMultipartUploadCommand({ ...destination, ChecksumAlgorithm: 'SHA256' }),
  );
  const upload = { Bucket: destination.Bucket, Key: destination.Key, UploadId: created.UploadId };
  try {
    const parts: CompletedPart[] = [];
    for await (const part of partsOf(path, Math.max(partBytes, Math.ceil(size / MAX_PARTS)))) {
      const PartNumber = parts.length + 1;
      const ChecksumSHA256 = createHash('sha256').update(part).digest('base64');
      const body = { Body: part, ContentLength: part.length, ChecksumSHA256 };
      const { ETag } = await client.send(new sdk.UploadPartCommand({ ...upload, PartNumber, ...body }));
      parts.push({ ETag, PartNumber, ChecksumSHA256 });
    }
    const whole = { ...upload, MultipartUpload: { Parts: parts }, ...(isNew ? { IfNoneMatch: '*' } : {}) };
    await client.send(new sdk.CompleteMultipartUploadCommand(whole));
  } catch (error) {
    // The first error is the one to report.
    await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch(() => undefined);
    throw error;
  }
}

async function* partsOf(path: string, partBytes: number): AsyncGenerator<Buffer> {
  const file = await open(path);
  try {
    for (;;) {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(partBytes), length: partBytes });
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
