/** One channel of 16-bit PCM. */
const SAMPLE_BYTES = 2;
const PCM = 1;
const HEAD_BYTES = 44;

/** A WAV file of samples in little-endian order. */
export function encodeWav(samples: Buffer, samplesPerSecond: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(HEAD_BYTES - 8 + samples.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(PCM, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(samplesPerSecond, 24);
  head.writeUInt32LE(SAMPLE_BYTES * samplesPerSecond, 28);
  head.writeUInt16LE(SAMPLE_BYTES, 32);
  head.writeUInt16LE(8 * SAMPLE_BYTES, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

/** Length in seconds, by the heads of the chunks of a WAV file; null for what is none, or has no such heads. */
export function wavSeconds(beginning: Buffer): number | null {
  if (!/^RIFF.{4}WAVE/s.test(beginning.toString('latin1', 0, 12))) return null;
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= beginning.length;) {
    const name = beginning.toString('latin1', at, at + 4);
    const length = beginning.readUInt32LE(at + 4);
    if (name === 'fmt ' && at + 20 <= beginning.length) bytesPerSecond = beginning.readUInt32LE(at + 16);
    if (name === 'data') return bytesPerSecond === 0 ? null : length / bytesPerSecond;
    // Chunks begin at even places.
    at += 8 + length + (length % 2);
  }
  return null;
}
