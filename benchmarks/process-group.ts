import { readFileSync, readdirSync } from 'node:fs';

/** Kernel ticks per second, which is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** CPU seconds, user and system, that the living processes of a group have taken, with those of their ended children. */
export function cpuSecondsOfGroup(group: number): number {
  let ticks = 0;
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name)) ticks += ticksInGroup(Number(name), group);
  }
  return ticks / TICKS_PER_SECOND;
}

/** proc(5): pgrp is the third field behind the command in parentheses, utime to cstime are the twelfth to the fifteenth. */
function ticksInGroup(pid: number, group: number): number {
  const text = statOf(pid);
  if (text === null) return 0;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (Number(fields[2]) !== group) return 0;
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

function statOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // Ended since the folder was read.
    return null;
  }
}
