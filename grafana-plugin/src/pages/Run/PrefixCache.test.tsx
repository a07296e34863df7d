import { render, screen } from '@testing-library/react';
import React from 'react';
import type { ResultFile } from '../../../../core/run/result.ts';
import { PrefixCache } from './PrefixCache.tsx';

const cache = { block_tokens: 16, possible_ratio: 0.6, usage_ratio: null, server_ratio: 0.21 };
const show = (why: string[]) =>
  render(<PrefixCache result={{ prefix_cache: { ...cache, why } } as unknown as ResultFile} />);

test('the possible rate beside the measured ones, with what explains the difference; unknown is a dash', () => {
  show(['1,000 tokens were evicted']);
  expect(screen.getByText('60 %')).toBeInTheDocument();
  expect(screen.getByText('in blocks of 16 tokens')).toBeInTheDocument();
  expect(screen.getByText('21 %')).toBeInTheDocument();
  expect(screen.getByText('–')).toBeInTheDocument();
  expect(screen.getByRole('listitem')).toHaveTextContent('1,000 tokens were evicted');
});

test('no explanation where none is needed, and nothing for a run whose plan does not know it', () => {
  show([]);
  expect(screen.queryByRole('list')).not.toBeInTheDocument();
  const { container } = render(<PrefixCache result={{} as unknown as ResultFile} />);
  expect(container).toBeEmptyDOMElement();
});
