// Counts the instances that use a driver: it is closed with the last of them.
//
//   UNUSED ──first instance──► USED by n ──the last instance closes──► CLOSED: no instance can use it

import type { Driver } from '../../driver.ts'
import { InvalidArgumentError } from '../errors/errors.ts'

/** A property of the driver, because several copies of the library may use it. */
const USERS = Symbol.for('perilune.users')

/** Undefined: not used yet. 0: closed. */
function usersOf(driver: Driver): number | undefined {
  return Object.getOwnPropertyDescriptor(driver, USERS)?.value
}

function setUsers(driver: Driver, value: number): void {
  Object.defineProperty(driver, USERS, { value, configurable: true })
}

/** Throws InvalidArgumentError when the driver is closed. */
export function useDriver(driver: Driver): void {
  const count = usersOf(driver)
  if (count === 0) {
    throw new InvalidArgumentError(
      'driver',
      'must be open, and was closed with its last instance; create a new driver from the client',
    )
  }
  setUsers(driver, (count ?? 0) + 1)
}

/** Closes the driver when no other instance uses it. */
export async function leaveDriver(driver: Driver): Promise<void> {
  const count = (usersOf(driver) ?? 1) - 1
  setUsers(driver, count)
  if (count === 0) await driver.close()
}
