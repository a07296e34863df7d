import { Combobox } from '@grafana/ui';
import React from 'react';
import { quantity, tickText } from '../../../core/text/quantities.ts';
import { useAddress } from '../hooks/useAddress.ts';
import { REQUEST_MEASURES, type RequestMeasure } from '../../../core/api/run-data.ts';
import { Named } from './Named.tsx';

const DEFAULT_VALUE: RequestMeasure = 'time_to_first_token_seconds';

/** The request column selected in the URL, `requests=…`, or the default one. */
export function useRequestValue(byDefault: RequestMeasure = DEFAULT_VALUE): RequestMeasure {
  const address = useAddress();
  return REQUEST_MEASURES.find((name) => name === address.one('requests')) ?? byDefault;
}

/** Chooses the value of each request that is drawn. */
export function RequestValuePicker({ label, value }: { label: string; value: RequestMeasure }) {
  const address = useAddress();
  return (
    <Named label={label}>
      {(named) => (
        <Combobox
          options={REQUEST_MEASURES.map((name) => ({ value: name, label: requestValueName(name) }))}
          value={value}
          onChange={({ value: chosen }) => address.set({ requests: chosen })}
          width={36}
          aria-labelledby={named}
        />
      )}
    </Named>
  );
}

/** `time_to_first_token_seconds` as `time to first token`. */
export function requestValueName(name: RequestMeasure): string {
  return name.replace(/_seconds$/, '').replaceAll('_', ' ');
}

/** A number at the axis of the values. */
export function requestValueText(name: RequestMeasure): (value: number) => string {
  return name.endsWith('_seconds') ? (value) => tickText(value, 'seconds') : (value) => quantity(value, 'tokens');
}
