// Options of leases, with the same meaning for every structure.

import { hostname } from 'node:os'
import { checkText } from '../values/arguments.ts'
import { type Duration, toMs } from '../values/duration.ts'

const MAX_HOLDER_BYTES = 128

/** Milliseconds of a lease, 10 ms to 30 days. Throws InvalidArgumentError. */
export function toLeaseMs(lease: Duration = '30s', argument = 'lease'): number {
  return toMs(argument, lease, { min: '10ms', max: '30d' })
}

/** How long a lease is renewed at most; '0s': not at all. Throws InvalidArgumentError. */
export function toMaxHoldMs(maxHold: Duration): number {
  return toMs('maxHold', maxHold, { min: '0s' })
}

/** The display name of a holder. Throws InvalidArgumentError. */
export function toHolder(holder: string = `${hostname()}:${process.pid}`): string {
  return checkText('holder', holder, MAX_HOLDER_BYTES)
}
