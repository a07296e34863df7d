import type { Spread } from '../../../core/run/run-dataset.ts';
import { drawNormal, seededRandom } from '../../../core/stats/seeded-random.ts';
import { dataOf, dataUrl } from './media-urls.ts';

const MIN_SECONDS = 0.01;
/** Seconds of noise that clips are cut from; longer clips repeat it. */
const NOISE_SECONDS = 30;
/** What no other clip has: more bits than any number of clips needs. */
const OWN_SAMPLES = 64;
const LOUDNESS = 2 ** 13;

/**
 * Makes clips of noise as WAV files. Each key has a clip that no other key's is equal to; making it costs a copy, because
 * the noise is drawn before.
 */
export function syntheticAudio(length: Spread, sampleRates: readonly number[], seed: number): (key: string) => string {
  const noises = sampleRates.map((rate) => ({ rate, noise: drawNoise(NOISE_SECONDS * rate, `${seed}/audio/${rate}`) }));
  return (key) => {
    const random = seededRandom(key);
    const { rate, noise } = noises[Math.floor(random() * noises.length)] ?? { rate: 1, noise: Buffer.alloc(2) };
    const seconds = Math.max(MIN_SECONDS, drawNormal(length.mean, length.stddev, random));
    const samples = Buffer.alloc(2 * Math.max(1, Math.round(seconds * rate)));
    const start = 2 * Math.floor((random() * noise.length) / 2);
    for (let at = 0; at < samples.length;) {
      const from = (start + at) % noise.length;
      at += noise.copy(samples, at, from);
    }
    const own = Math.min(OWN_SAMPLES, samples.length / 2);
    for (let i = 0; i < own; i++) samples.writeInt16LE(sample(random), 2 * i);
    return dataUrl('audio/wav', encodeWav(samples, rate));
  };
}

function drawNoise(samples: number, key: string): Buffer {
  const random = seededRandom(key);
  const noise = Buffer.alloc(2 * samples);
  for (let i = 0; i < samples; i++) noise.writeInt16LE(sample(random), 2 * i);
  return noise;
}

const sample = (random: () => number): number => Math.round((2 * random() - 1) * LOUDNESS);

/** In Base64; the heads of a file's chunks lie within it. */
const BEGINNING_CHARACTERS = 8192;

/** Length of the clip that a URL contains; null for an address and for formats that do not state it. */
export function audioSeconds(url: string): number | null {
  const data = dataOf(url);
  return data === null ? null : wavSeconds(Buffer.from(data.base64.slice(0, BEGINNING_CHARACTERS), 'base64'));
}

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
function wavSeconds(beginning: Buffer): number | null {
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
