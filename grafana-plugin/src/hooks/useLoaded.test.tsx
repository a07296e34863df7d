import { act, renderHook, waitFor } from '@testing-library/react';
import { useLoaded } from './useLoaded.ts';

test('data stay while newer ones are on their way, and an answer that came too late is dropped', async () => {
  const responses: Array<(value: string) => void> = [];
  const load = () => new Promise<string>((resolve) => responses.push(resolve));
  const { result, rerender } = renderHook(({ load: current }) => useLoaded(current), { initialProps: { load } });
  expect(result.current).toMatchObject({ data: undefined, loading: true });
  act(() => responses[0]?.('first'));
  await waitFor(() => expect(result.current).toMatchObject({ data: 'first', loading: false }));
  rerender({ load: () => load() });
  expect(result.current).toMatchObject({ data: 'first', loading: true });
  rerender({ load: () => load() });
  act(() => responses[1]?.('late'));
  act(() => responses[2]?.('newest'));
  await waitFor(() => expect(result.current).toMatchObject({ data: 'newest', loading: false }));
});

test('an error is reported, and loading again clears it', async () => {
  let fails = true;
  const load = () => (fails ? Promise.reject(new Error('down')) : Promise.resolve(1));
  const { result } = renderHook(() => useLoaded(load));
  await waitFor(() => expect(result.current.error?.message).toBe('down'));
  fails = false;
  act(() => result.current.reload());
  await waitFor(() => expect(result.current).toMatchObject({ data: 1, error: undefined, loading: false }));
});

test('null loads nothing', () => {
  const { result } = renderHook(() => useLoaded(null));
  expect(result.current).toMatchObject({ data: undefined, loading: false });
});
