import { describe, expect, test } from '@jest/globals';
import { dataOf, dataUrl, mediaTypeOf } from './media-urls.ts';
import { audioSeconds, syntheticAudio } from './synthetic-audio.ts';

const fileOf = (url: string): Buffer => Buffer.from(dataOf(url)?.base64 ?? '', 'base64');

describe('synthetic audio', () => {
  const make = syntheticAudio({ mean: 1.5, stddev: 0 }, [16_000], 1);
  const files = Array.from({ length: 20 }, (_, i) => fileOf(make(`clip ${i}`)));

  test('has the head of a WAV file of one channel of 16-bit PCM, as Microsoft documents it', () => {
    const [file = Buffer.alloc(0)] = files;
    expect(mediaTypeOf('audio', file)).toBe('audio/wav');
    expect(file.length).toBe(44 + 2 * 24_000);
    // RIFF, the bytes after this number, WAVE; fmt of 16 bytes: PCM, 1 channel, 16,000 Hz, 32,000 B/s, blocks of 2 B, 16 bits.
    expect(file.toString('hex', 0, 44)).toBe(
      `52494646a4bb000057415645${'666d74201000000001000100803e0000007d000002001000'}6461746180bb0000`,
    );
    expect(audioSeconds(make('clip 0'))).toBe(1.5);
  });

  test('is noise that no other clip has, and the same for the same key and seed', () => {
    expect(new Set(files.map((file) => file.toString('base64'))).size).toBe(files.length);
    expect(syntheticAudio({ mean: 1.5, stddev: 0 }, [16_000], 1)('clip 7')).toBe(make('clip 7'));
    expect(syntheticAudio({ mean: 1.5, stddev: 0 }, [16_000], 2)('clip 7')).not.toBe(make('clip 7'));
    for (const file of files) {
      const samples = Array.from({ length: 24_000 }, (_, i) => file.readInt16LE(44 + 2 * i));
      expect(Math.max(...samples)).toBeGreaterThan(8000);
      expect(Math.min(...samples)).toBeLessThan(-8000);
    }
  });

  test('has lengths around their mean, and one of several rates', () => {
    const some = syntheticAudio({ mean: 2, stddev: 0.5 }, [8000, 16_000], 1);
    const urls = Array.from({ length: 400 }, (_, i) => some(`clip ${i}`));
    const lengths = urls.map((url) => audioSeconds(url) ?? NaN);
    const mean = lengths.reduce((sum, each) => sum + each) / 400;
    // 0.5 / √400 is the standard error.
    expect(Math.abs(mean - 2)).toBeLessThan(4 * 0.025);
    const rates = urls.map((url) => fileOf(url).readUInt32LE(24));
    const low = rates.filter((rate) => rate === 8000).length;
    expect(rates.filter((rate) => rate === 16_000)).toHaveLength(400 - low);
    expect(Math.abs(low - 200)).toBeLessThan(4 * 10);
  });

  test('longer than the noise that is drawn, and shorter than a hundredth of a second', () => {
    expect(audioSeconds(syntheticAudio({ mean: 65, stddev: 0 }, [8000], 1)('a'))).toBe(65);
    expect(audioSeconds(syntheticAudio({ mean: 0, stddev: 0 }, [8000], 1)('a'))).toBe(0.01);
  });
});

test.each([
  ['chunks before the samples', 'RIFF\0\0\0\0WAVELIST\x03\0\0\0abc\0', 0.25],
  ['no chunks before the samples', 'RIFF\0\0\0\0WAVE', 0.25],
  ['another form of RIFF', 'RIFF\0\0\0\0WEBP', null],
])('the length of a file with %s', (_, beginning, expected) => {
  const format = Buffer.from('666d7420100000000100020040 1f0000007d00000400 1000'.replaceAll(' ', ''), 'hex');
  const data = Buffer.concat([Buffer.from('data'), Buffer.from([0x40, 0x1f, 0, 0])]);
  const file = Buffer.concat([Buffer.from(beginning, 'latin1'), format, data, Buffer.alloc(8000)]);
  expect(audioSeconds(dataUrl('audio/wav', file))).toBe(expected);
});

test('the length of an address, and of a file that states none, is not known', () => {
  expect(audioSeconds('https://example.com/a.wav')).toBeNull();
  expect(audioSeconds(dataUrl('audio/mp3', Buffer.from('ID3')))).toBeNull();
});

test.each([
  ['audio/mp3', 'ID3'],
  ['audio/mp3', '\xff\xfb\x90'],
  ['audio/flac', 'fLaC'],
  ['audio/ogg', 'OggS'],
  [null, 'RIFF\0\0\0\0WEBP'],
])('%s by the first bytes', (type, beginning) => {
  expect(mediaTypeOf('audio', Buffer.from(beginning, 'latin1'))).toBe(type);
});
