// An attempt whose caller chose its id may have several objects in this instance: it was begun again. Each renews
// the lease, and the keeper notes the answers for all; what one of them ends, the others learn here.

import { didNotHappen } from '../runtime/errors/outage.ts'
import type { KeeperLease } from '../runtime/keeper/lease-keeper.ts'
import type { KeptLease } from '../runtime/leases/kept-lease.ts'

/** Settles like `ending`, which ends the attempt. */
export async function endOthers(lease: KeptLease, ending: Promise<void>): Promise<void> {
  try {
    await ending
  } catch (error) {
    if (!didNotHappen(error)) for (const other of othersOf(lease)) other.doubt()
    throw error
  }
  for (const other of othersOf(lease)) other.noteEnded()
}

function othersOf(lease: KeptLease): KeeperLease[] {
  return lease.unit.runtime.keeper.othersOf(lease)
}
