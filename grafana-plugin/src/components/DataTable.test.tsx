import { fireEvent, render, screen } from '@testing-library/react';
import React from 'react';
import { type Column, DataTable } from './DataTable.tsx';

interface Row {
  id: string;
  value: number;
}

const COLUMNS: Array<Column<Row>> = [
  { id: 'name', header: 'Name', sortable: true, render: ({ id }) => id },
  { id: 'value', header: 'Value', align: 'right', sortable: true, render: ({ value }) => value },
];
const ROWS = [
  { id: 'a', value: 1 },
  { id: 'b', value: 2 },
];

test('headings sort: numbers descending first, texts ascending; a second click reverses the order', () => {
  const onSort = jest.fn();
  const sort = { id: 'value', descending: true };
  render(<DataTable label="t" columns={COLUMNS} rows={ROWS} rowKey={({ id }) => id} sort={sort} onSort={onSort} />);
  expect(screen.getByRole('columnheader', { name: 'Value' })).toHaveAttribute('aria-sort', 'descending');
  expect(screen.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'none');
  fireEvent.click(screen.getByRole('button', { name: 'Value' }));
  fireEvent.click(screen.getByRole('button', { name: 'Name' }));
  expect(onSort.mock.calls).toEqual([[{ id: 'value', descending: false }], [{ id: 'name', descending: false }]]);
});

test('checkboxes select rows and name them', () => {
  const onToggle = jest.fn();
  const selection = { chosen: new Set(['b']), onToggle, label: ({ id }: Row) => `Pick ${id}` };
  render(<DataTable label="t" columns={COLUMNS} rows={ROWS} rowKey={({ id }) => id} selection={selection} />);
  expect(screen.getByRole('checkbox', { name: 'Pick b' })).toBeChecked();
  fireEvent.click(screen.getByRole('checkbox', { name: 'Pick a' }));
  expect(onToggle).toHaveBeenCalledWith(ROWS[0]);
});
