import '@testing-library/jest-dom';
import { TextDecoder, TextEncoder } from 'util';

// What jsdom lacks of a browser.
Object.assign(global, { TextDecoder, TextEncoder });
Object.defineProperty(global, 'matchMedia', {
  writable: true,
  value: (query) => ({
    matches: false,
    media: query,
    onchange: null,
    addListener: jest.fn(),
    removeListener: jest.fn(),
    addEventListener: jest.fn(),
    removeEventListener: jest.fn(),
    dispatchEvent: jest.fn(),
  }),
});

// jsdom draws nothing: @grafana/ui measures text on a canvas, so a fixed width per character stands in for it.
HTMLCanvasElement.prototype.getContext = () => ({
  measureText: (text) => ({ width: text.length * 7 }),
});
