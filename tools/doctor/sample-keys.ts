// Names of keys and channels that nothing else uses. No check writes to them.

import { slotOf } from '../../src/drivers/wire/slot.ts'
import type { Node } from './node.ts'
import type { Server } from './server.ts'

/** `perilune:{lock:doctor-7}`: the beginning of the keys of a unit that does not exist, in a slot of this node. */
export function unitAt(server: Server, node: Node, structure: string): string {
  const { namespace } = server.options
  if (node.slots.length === 0) return `${namespace}:{${structure}:doctor}`
  for (let number = 0; ; number++) {
    const unit = `${namespace}:{${structure}:doctor-${number}}`
    const slot = slotOf(unit)
    if (node.slots.some(([first, last]) => first <= slot && slot <= last)) return unit
  }
}
