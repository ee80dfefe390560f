import { type Codec, jsonOf } from '../runtime/codec.ts'
import { checkName } from '../runtime/keys.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { Unit } from '../runtime/unit.ts'
import { type Partition, readAddress, toAddress } from './address.ts'
import { Chores } from './chores.ts'
import { askAfter, deliver } from './outbox.ts'
import { refillAll } from './refilling.ts'
import { PayloadChecks, type SchemasByName } from './schemas.ts'
import type { Source } from './source.ts'

export interface SourceOptions {
  codec?: Codec<unknown>
  schemas?: SchemasByName
}

const SINCE = '6.2.0'

/** The named queue of this runtime, and through it others that speak the same codec. Throws InvalidArgumentError. */
export function openSource(
  runtime: Runtime,
  name: string,
  { codec = jsonOf<unknown>('payload'), schemas }: SourceOptions,
  partition: Partition | null,
): Source {
  const place = { structure: 'queue', name: checkName('name', name), since: SINCE }
  const address = toAddress({ name, partition })
  const siblingAt = (other: string): Source => {
    const { name: named, partition: part } = readAddress(other)
    return openSource(runtime, named, { codec }, part)
  }
  const source: Source = {
    unit: new Unit(runtime, partition === null ? place : { ...place, unit: String(partition.number) }),
    codec: partition === null ? codec : inPartitions(codec, partition.count),
    name,
    pace: { slowly: 0 },
    chores: new Chores({
      refill: () => refillAll(source),
      deliver: () => deliver(source),
      askAfter: () => askAfter(source),
    }),
    address,
    sibling: (other) => (other === address ? source : siblingAt(other)),
    checks: schemas === undefined ? null : new PayloadChecks(schemas),
    partition: partition === null ? null : partition.number,
    partitions: partition === null ? 1 : partition.count,
  }
  return source
}

/** Whoever thinks of another number of partitions is refused for the name of the codec. */
function inPartitions(codec: Codec<unknown>, count: number): Codec<unknown> {
  return {
    name: `${codec.name} in ${count} partitions`,
    encode: (payload) => codec.encode(payload),
    decode: (bytes) => codec.decode(bytes),
  }
}
