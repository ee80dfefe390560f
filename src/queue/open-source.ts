import type { Codec } from '../runtime/codec.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { Unit } from '../runtime/unit.ts'
import { Chores } from './chores.ts'
import { askAfter, deliver } from './outbox.ts'
import { refillAll } from './refilling.ts'
import type { Source } from './source.ts'

const SINCE = '6.2.0'

/** The named queue of this runtime, and through it others that speak the same codec. */
export function openSource(runtime: Runtime, name: string, codec: Codec<unknown>): Source {
  const source: Source = {
    unit: new Unit(runtime, { structure: 'queue', name, since: SINCE }),
    codec,
    name,
    pace: { slowly: 0 },
    chores: new Chores({
      refill: () => refillAll(source),
      deliver: () => deliver(source),
      askAfter: () => askAfter(source),
    }),
    sibling: (other) => (other === name ? source : openSource(runtime, other, codec)),
  }
  return source
}
