import { render, screen } from '@testing-library/react';
import React from 'react';
import type { ResultFile, SpeculationResult } from '../../../../core/run/result.ts';
import { SpeculativeDecoding } from './SpeculativeDecoding.tsx';

const show = (speculation?: SpeculationResult) =>
  render(<SpeculativeDecoding result={{ speculation } as unknown as ResultFile} />);

test('rate, length and the share of each position, with the counts', () => {
  show({ drafts: 150, draft_tokens: 450, accepted_tokens: 140, accepted_by_position: [100, 30, 10] });
  expect(screen.getByText('31.1 %')).toBeInTheDocument();
  expect(screen.getByText('140 of 450 draft tokens')).toBeInTheDocument();
  expect(screen.getByText('1.93 tokens')).toBeInTheDocument();
  expect(screen.getByText('over 150 drafts')).toBeInTheDocument();
  expect(screen.getByText('66.7 %')).toBeInTheDocument();
  expect(screen.getByText('Position 3')).toBeInTheDocument();
});

test('a server that drafted nothing has dashes, and one without drafts no section', () => {
  show({ drafts: 0, draft_tokens: 0, accepted_tokens: 0, accepted_by_position: null });
  expect(screen.getAllByText('–')).toHaveLength(2);
  const { container } = show();
  expect(container).toBeEmptyDOMElement();
});
