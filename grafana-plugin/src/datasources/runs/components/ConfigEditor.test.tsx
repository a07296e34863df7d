import type { DataSourceSettings } from '@grafana/data';
import { fireEvent, render, screen } from '@testing-library/react';
import React from 'react';
import type { RunsOptions, RunsSecrets } from '../types.ts';
import { ConfigEditor } from './ConfigEditor.tsx';

type Settings = DataSourceSettings<RunsOptions, RunsSecrets>;

function show(settings: Partial<Settings>) {
  const onOptionsChange = jest.fn();
  const options = { url: 'http://localhost:9469', access: 'proxy', jsonData: {}, secureJsonFields: {}, ...settings };
  render(<ConfigEditor options={options as Settings} onOptionsChange={onOptionsChange} />);
  return onOptionsChange;
}

test('a token becomes a header that only the server keeps', () => {
  const onOptionsChange = show({});
  fireEvent.change(screen.getByLabelText(/^Token/), { target: { value: 'secret' } });
  expect(onOptionsChange).toHaveBeenCalledWith(
    expect.objectContaining({
      jsonData: { httpHeaderName1: 'Authorization' },
      secureJsonData: { httpHeaderValue1: 'Bearer secret' },
    })
  );
});

test('a token that is set is not shown and can be taken away', () => {
  const onOptionsChange = show({ secureJsonFields: { httpHeaderValue1: true } });
  expect(screen.getByLabelText(/^Token/)).toBeDisabled();
  fireEvent.click(screen.getByRole('button', { name: 'Reset' }));
  expect(onOptionsChange).toHaveBeenCalledWith(
    expect.objectContaining({ secureJsonFields: { httpHeaderValue1: false } })
  );
});

test.each(['localhost:9469', 'ftp://x'])('%s is no address of an exporter', (url) => {
  show({ url });
  expect(screen.getByText('The URL must start with http:// or https://')).toBeInTheDocument();
});
