import React, { type ReactNode, useId } from 'react';

interface Props {
  /** Read to people who cannot see what the control is for. */
  label: string;
  /** Draws the control; the id is for its `aria-labelledby`. */
  children: (id: string) => ReactNode;
}

/** A name for controls that take no other name, such as Grafana's Combobox. */
export function Named({ label, children }: Props) {
  const id = useId();
  return (
    <>
      <span id={id} hidden>
        {label}
      </span>
      {children(id)}
    </>
  );
}
