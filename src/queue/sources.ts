import { agree, clear, disband, propose } from '../generated/queue.ts'
import type { Trace } from '../runtime/calls/runner.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { type UnitIdentity, Unit } from '../runtime/connection/unit.ts'
import { Agreement } from '../runtime/partitions/agreement.ts'
import { type Codec, codecOr, jsonOf } from '../runtime/values/codec.ts'
import { checkName } from '../runtime/values/keys.ts'
import { learnNotifyChannel } from '../runtime/waiting/notify-channel.ts'
import { askAfter, deliver } from './outbox/outbox.ts'
import { refillAll } from './recurring/recurrence.ts'
import { Chores } from './source/chores.ts'
import { type QueuePartition, type QueueSource, readAddress, toAddress } from './source/source.ts'
import { PayloadChecks, type SchemasByName } from './source/schemas.ts'

export interface QueueSourceOptions {
  codec?: Codec<unknown>
  schemas?: SchemasByName
}

const SINCE = '6.2.0'

/** The source of a queue; `sibling` opens other queues with the same codec. Throws InvalidArgumentError. */
export function openSource(
  runtime: Runtime,
  name: string,
  { codec: given, schemas }: QueueSourceOptions,
  partition: QueuePartition | null,
  agreement: Agreement | null = partition === null ? null : agreementOf(runtime, name, partition.count),
): QueueSource {
  const codec = codecOr(given, () => jsonOf<unknown>('payload'))
  const place = placeOf(name)
  const address = toAddress({ name, partition })
  const siblingAt = (other: string): QueueSource => {
    const { name: named, partition: part } = readAddress(other)
    return openSource(runtime, named, { codec }, part)
  }
  const unit = new Unit(runtime, partition === null ? place : { ...place, unit: String(partition.number) })
  const source: QueueSource = {
    unit,
    codec,
    results: codecOr(given, () => jsonOf<unknown>('result')),
    name,
    pace: { slowly: 0 },
    chores: new Chores(runtime, `${unit.prefix} ${codec.name}`, {
      refill: () => refillAll(source),
      deliver: () => deliver(source),
      askAfter: () => askAfter(source),
    }),
    address,
    sibling: (other) => (other === address ? source : siblingAt(other)),
    checks: schemas === undefined ? null : new PayloadChecks(schemas, runtime.runner),
    spread: partition === null ? 0 : partition.count,
    agreement,
    partition: partition === null ? null : partition.number,
    partitions: partition === null ? 1 : partition.count,
  }
  return source
}

/** Agrees with other clients on the number of partitions of the queue. Throws InvalidArgumentError. */
export function agreementOf(runtime: Runtime, name: string, count: number): Agreement {
  return new Agreement(new Unit(runtime, placeOf(name)), count, { propose, agree, disband })
}

function placeOf(name: string): UnitIdentity {
  return { structure: 'queue', name: checkName('name', name), since: SINCE }
}

/** Resolves to false when there was nothing. */
export async function clearSource({ unit }: QueueSource): Promise<boolean> {
  const notifyChannel = await learnNotifyChannel(unit)
  const clearIt = (trace: Trace) => unit.run(clear, notifyChannel, trace)
  const { existed } = await unit.runtime.clearings.run([unit.beginning], clearIt)
  return existed
}
