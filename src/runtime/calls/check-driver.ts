import type { Driver } from '../../driver.ts'
import { InvalidArgumentError } from '../errors/errors.ts'

const METHODS = ['run', 'runMany', 'read', 'write', 'subscribe', 'info'] as const

/** Rejects a Redis client in place of its driver. Throws InvalidArgumentError. */
export function checkDriver(driver: Driver): Driver {
  const isOne = typeof driver === 'object' && driver !== null
  if (isOne && METHODS.every((method) => typeof driver[method] === 'function')) return driver
  throw new InvalidArgumentError(
    'driver',
    'must be a driver: ioredis(client) of perilune/ioredis, nodeRedis(client) of perilune/node-redis',
  )
}
