// How many instances use a driver: it is closed with the last of them.
//
//   UNUSED ──first instance──► USED by n ──the last instance closes──► CLOSED: no instance can use it any more

import type { Driver } from '../driver.ts'
import { InvalidArgumentError } from './errors.ts'

/** 0: the driver is closed. */
const users = new WeakMap<Driver, number>()

/** Throws InvalidArgumentError when the driver is closed. */
export function useDriver(driver: Driver): void {
  const count = users.get(driver)
  if (count === 0) {
    throw new InvalidArgumentError(
      'driver',
      'must not be one that is closed: it was, with the last instance on it; make another one of the client',
    )
  }
  users.set(driver, (count ?? 0) + 1)
}

/** Closes the driver when no other instance uses it. */
export async function leaveDriver(driver: Driver): Promise<void> {
  const count = (users.get(driver) ?? 1) - 1
  users.set(driver, count)
  if (count === 0) await driver.close()
}
