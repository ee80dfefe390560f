import { setTimeout as sleep } from 'node:timers/promises'
import { between, oneOf } from '../cell.ts'
import { nowUs } from '../clock.ts'
import type { Fault, Scene } from './fault.ts'

/** A process stalls for longer than all its leases, and continues as if nothing had happened. */
async function happen({ victims, luck, deal }: Scene): Promise<void> {
  const victim = oneOf(luck, victims)
  const fromUs = nowUs()
  victim.stop()
  await sleep(between(luck, 2000, 4000))
  victim.goOn()
  deal.stops.push({ process: victim.process, fromUs, untilUs: nowUs() })
  await sleep(500)
}

export const stoppedProcess: Fault = { happen }
