import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'

const SINCE = '6.2.0'

/** The unit of a key, or of a tag; without either that of the cache as a whole. */
export function unitIn(runtime: Runtime, name: string, unit?: string): Unit {
  return new Unit(runtime, {
    structure: 'cache',
    name,
    since: SINCE,
    ...(unit === undefined ? {} : { unit }),
  })
}
