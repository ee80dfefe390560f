// Reads the answer of CLUSTER NODES.

import type { Place } from './address.ts'
import type { Member } from './server.ts'
import type { Range } from './node.ts'

/** `asked` is where the answer comes from: a node that does not know its own address leaves it out. */
export function membersOf(text: string, asked: Place): Member[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => {
      const [id = '', address = '', flagText = '', primary = '-', , , , state = '', ...slots] = line
        .trim()
        .split(' ')
      const flags = flagText.split(',')
      const place = placeOf(address, asked)
      if (place === null || flags.includes('noaddr')) return []
      return {
        id,
        place,
        role: flags.includes('master') ? ('primary' as const) : ('replica' as const),
        primary: primary === '-' ? null : primary,
        troubles: flags.filter((flag) => ['fail', 'fail?', 'handshake'].includes(flag)),
        connected: flags.includes('myself') || state === 'connected',
        slots: slots.filter((slot) => !slot.startsWith('[')).map(rangeOf),
        open: slots.filter((slot) => slot.startsWith('[')),
      }
    })
}

/** `10.0.0.1:6379@16379,name`; the address may be empty or that of IPv6. */
function placeOf(text: string, asked: Place): Place | null {
  const address = text.replace(/[@,].*$/, '')
  const colon = address.lastIndexOf(':')
  const port = Number(address.slice(colon + 1))
  if (colon === -1 || !(port > 0)) return null
  const host = address.slice(0, colon)
  return { host: host === '' ? asked.host : host, port }
}

function rangeOf(text: string): Range {
  const [first = '', last = first] = text.split('-')
  return [Number(first), Number(last)]
}
