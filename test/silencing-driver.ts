import type { Driver } from 'perilune'
import type { Reply } from '../src/driver.ts'

type Call = Parameters<Driver['run']>[0]

/** Calls that were not answered. */
export interface Silence {
  /** Whether a call is one of those that are carried out, and not answered before `end`. */
  of: (call: Call) => boolean
  end(): void
}

/** A driver some of whose calls are not answered until the silence ends. */
export function silencing(driver: Driver): { driver: Driver; silence: Silence } {
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const silence: Silence = { of: () => false, end }
  const run = async (call: Call): Promise<Reply> => {
    const reply = await driver.run(call)
    if (silence.of(call)) await ended
    return reply
  }
  const silent = Object.assign(Object.create(driver) as Driver, {
    run,
    info: () => driver.info(),
    close: () => driver.close(),
    subscribe: (...args: Parameters<Driver['subscribe']>) => driver.subscribe(...args),
  })
  return { driver: silent, silence }
}
