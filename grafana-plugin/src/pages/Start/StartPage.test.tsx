import { render, screen } from '@testing-library/react';
import React from 'react';
import { MemoryRouter } from 'react-router-dom-v5-compat';
import StartPage from './StartPage.tsx';

test('the page leads to a data source and shows the queries to use', () => {
  render(
    <MemoryRouter future={{ v7_startTransition: true, v7_relativeSplatPath: true }}>
      <StartPage />
    </MemoryRouter>
  );
  expect(screen.getByRole('link', { name: /Add a data source/ })).toHaveAttribute(
    'href',
    '/connections/datasources/new'
  );
  expect(screen.getByText(/llmbench_time_to_first_token_seconds_bucket/)).toBeInTheDocument();
});
