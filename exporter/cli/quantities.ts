export { ABSENT, quantity, significant } from '../../core/measures/quantities.ts';
