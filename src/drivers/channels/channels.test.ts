import { expect, test } from 'vitest'
import { ConnectionLostError, type Listener, ServerReplyError } from '../../driver.ts'
import { Channels } from './channels.ts'
import type { Line, LineEvents, Lines } from '../wire/line.ts'

const deaf = { onMessage: () => undefined, onGap: () => undefined }

/** Nodes that behave as the test specifies; `asked`: the nodes that were asked for a line, in order. */
interface Nodes extends Lines {
  readonly asked: string[]
  readonly events: LineEvents[]
}

function nodes(
  open: (address: string, events: LineEvents) => Promise<Line>,
  otherwise: Partial<Lines> = {},
): Nodes {
  const asked: string[] = []
  const events: LineEvents[] = []
  return {
    asked,
    events,
    placeOf: async () => ({ addresses: ['one', 'other'], onlyFirst: false }),
    open: (address, events_) => {
      asked.push(address)
      events.push(events_)
      return open(address, events_)
    },
    touch: async () => undefined,
    leadsTo: async () => true,
    ...otherwise,
  }
}

function line(otherwise: Partial<Line> = {}): Line {
  const nothing = async () => undefined
  return {
    runId: Promise.resolve(undefined),
    subscribe: nothing,
    unsubscribe: nothing,
    touch: () => Promise.resolve(0),
    ping: nothing,
    ...otherwise,
  }
}

function never<T>(): Promise<T> {
  return new Promise(() => undefined)
}

/** What a listener was notified of. */
function ear(): Listener & { reported: string[] } {
  const reported: string[] = []
  return {
    reported,
    onMessage: (message) => reported.push(message),
    onLost: () => reported.push('lost'),
    onGap: () => reported.push('gap'),
  }
}

test('every node is asked once for a channel, and the last one gives the reason for the failure', async () => {
  const lines = nodes(async (address) => {
    throw new ConnectionLostError(`${address} is gone`, false)
  })

  await expect(new Channels(lines).subscribe('a', deaf)).rejects.toThrow('other is gone')

  expect(lines.asked).toEqual(['one', 'other'])
})

test('a rejection of a channel by one node is final', async () => {
  const lines = nodes(async () => {
    throw new ServerReplyError('NOPERM not this channel')
  })

  await expect(new Channels(lines).subscribe('a', deaf)).rejects.toThrow('NOPERM')

  expect(lines.asked).toEqual(['one'])
})

test('no further node is asked once the driver is closed', async () => {
  const lines = nodes(async () => {
    channels.close()
    throw new ConnectionLostError('gone', false)
  })
  const channels = new Channels(lines)

  await expect(channels.subscribe('a', deaf)).rejects.toThrow('gone')

  expect(lines.asked).toEqual(['one'])
})

test('a line that does not confirm a channel in time is closed, and another one is tried', async () => {
  let closed = 0
  const lines = nodes(async (address, { onOpening }) => {
    if (address === 'one') onOpening(() => (closed += 1))
    return line(address === 'one' ? { subscribe: never } : {})
  })
  const channels = new Channels(lines)

  await channels.subscribe('a', deaf)

  expect([lines.asked, closed]).toEqual([['one', 'other'], 1])
  channels.close()
})

test('when any node will do, a further channel uses the existing line', async () => {
  const lines = nodes(async () => line(), { leadsTo: async (_, address) => address === 'other' })
  const channels = new Channels(lines)
  await channels.subscribe('a', deaf)
  expect(lines.asked).toEqual(['one', 'other'])

  await channels.subscribe('b', deaf)

  expect(lines.asked).toEqual(['one', 'other'])
  channels.close()
})

test('a line that opens too late is closed', async () => {
  let isClosed = false
  const channels = new Channels(
    nodes((address, { onOpening }) => {
      if (address !== 'one') return Promise.resolve(line())
      onOpening(() => (isClosed = true))
      return never()
    }),
  )

  await channels.subscribe('a', deaf)

  await expect.poll(() => isClosed).toBe(true)
  channels.close()
})

test('a line that is silent while commands are answered is replaced by another one', async () => {
  const { reported, ...listener } = ear()
  const lines = nodes(async () => line(lines.asked.length === 1 ? { ping: never } : {}))
  const channels = new Channels(lines)

  await channels.subscribe('a', listener)
  await expect.poll(() => reported).toEqual(['lost', 'gap'])

  expect(lines.asked).toEqual(['one', 'one'])
  channels.close()
})

test('a line that is silent while commands are unanswered too is doubted but kept', async () => {
  const { reported, ...listener } = ear()
  let isAway = false
  const answer = () => (isAway ? never<undefined>() : Promise.resolve(undefined))
  const channels = new Channels(nodes(async () => line({ ping: answer }), { touch: answer }))
  await channels.subscribe('a', listener)
  expect(channels.healthy()).toBe(true)

  isAway = true
  await expect.poll(() => channels.healthy()).toBe(false)
  await new Promise((resolve) => setTimeout(resolve, 3500))

  expect(reported).toEqual([])
  channels.close()
})

test('a line at another node than the commands is closed at once when the client reports a change', async () => {
  const { reported, ...listener } = ear()
  let leadsTo = true
  const lines = nodes(async () => line(), { leadsTo: async () => leadsTo })
  const channels = new Channels(lines)
  await channels.subscribe('a', listener)

  leadsTo = false
  channels.doubtAfter(new ServerReplyError('READONLY it is a replica now'))
  await expect.poll(() => reported).toEqual(['lost'])
  expect(channels.healthy()).toBe(false)
  leadsTo = true

  await expect.poll(() => reported).toEqual(['lost', 'gap'])
  expect(channels.healthy()).toBe(true)
  channels.close()
})

test.each(['NOREPLICAS too few', 'MISCONF the disk is full'])(
  'a primary that temporarily rejects writes (%s) is asked again whether it is the primary',
  async (refusal) => {
    let says = refusal
    const touch = async () => {
      throw new ServerReplyError(says)
    }
    const channels = new Channels(nodes(async () => line(), { touch }))
    await channels.subscribe('a', deaf)
    expect(channels.healthy()).toBe(true)

    says = 'READONLY it is a replica now'

    await expect.poll(() => channels.healthy()).toBe(false)
    channels.close()
  },
)

test('a channel is restored only once its line is known to be at the node of the commands', async () => {
  const { reported, ...listener } = ear()
  let refuses = false
  const touch = async () => {
    if (refuses) throw new ServerReplyError('READONLY it is a replica')
  }
  const lines = nodes(async () => line(), { touch })
  const channels = new Channels(lines)
  await channels.subscribe('a', listener)

  refuses = true
  lines.events[0]?.onLost()
  await expect.poll(() => lines.asked.length).toBeGreaterThan(1)
  expect(reported).toEqual(['lost'])
  refuses = false

  await expect.poll(() => reported).toEqual(['lost', 'gap'])
  channels.close()
})

test('messages from a line that a channel has left are ignored', async () => {
  const { reported, ...listener } = ear()
  let first = 'one'
  const lines = nodes(async () => line(), { placeOf: async () => ({ addresses: [first], onlyFirst: true }) })
  const channels = new Channels(lines)
  await channels.subscribe('a', listener)

  first = 'other'
  channels.doubt()
  await expect.poll(() => reported).toEqual(['lost', 'gap'])
  lines.events[0]?.onMessage('a', 'from one')
  lines.events[1]?.onMessage('a', 'from other')

  expect(reported).toEqual(['lost', 'gap', 'from other'])
  expect(lines.asked).toEqual(['one', 'other'])
  channels.close()
})

test('a channel whose slot leaves the node is placed again, and the line keeps the others', async () => {
  const [stays, leaves] = [ear(), ear()]
  const addresses = new Map([['leaves', 'one']])
  const lines = nodes(async () => line(), {
    placeOf: async (channel) => ({ addresses: [addresses.get(channel) ?? 'one'], onlyFirst: true }),
  })
  const channels = new Channels(lines)
  await channels.subscribe('stays', stays)
  await channels.subscribe('leaves', leaves)

  addresses.set('leaves', 'other')
  lines.events[0]?.onLeft('leaves')
  await expect.poll(() => leaves.reported).toEqual(['lost', 'gap'])
  lines.events[0]?.onMessage('stays', 'from one')
  lines.events[1]?.onMessage('leaves', 'from other')

  expect([stays.reported, leaves.reported]).toEqual([['from one'], ['lost', 'gap', 'from other']])
  expect(lines.asked).toEqual(['one', 'other'])
  channels.close()
})

test('a channel that leaves the node while its line is verified is placed again', async () => {
  let tries = 0
  const lines = nodes(async () => line({ subscribe: async () => void tries++ }), {
    leadsTo: async () => {
      if (tries === 1) lines.events[0]?.onLeft('a')
      return true
    },
  })
  const channels = new Channels(lines)

  await channels.subscribe('a', deaf)

  expect(tries).toBe(2)
  channels.close()
})

test('a node that rejects a slot without naming its owner is asked only as long as the client regards it as the owner', async () => {
  let owner = 'one'
  const lines = nodes(
    async (address) =>
      line({
        subscribe: async () => {
          if (address === 'one') throw new ConnectionLostError('given up', true)
        },
      }),
    {
      placeOf: async () => ({ addresses: [owner, 'third'], onlyFirst: true }),
      touch: async () => {
        owner = 'other'
      },
    },
  )
  const channels = new Channels(lines)

  await channels.subscribe('a', deaf)

  expect(lines.asked).toEqual(['one', 'other'])
  channels.close()
})

test('a line that is being opened is ended at once by close', async () => {
  let ended = 0
  const lines = nodes(never)
  const channels = new Channels(lines)
  channels.subscribe('a', deaf).catch(() => undefined)
  await expect.poll(() => lines.events.length).toBe(1)
  lines.events[0]?.onOpening(() => (ended += 1))

  channels.close()

  expect(ended).toBe(1)
})

test('a line that begins to connect only after close is ended at once', async () => {
  let ended = 0
  const lines = nodes(never)
  const channels = new Channels(lines)
  channels.subscribe('a', deaf).catch(() => undefined)
  await expect.poll(() => lines.events.length).toBe(1)
  channels.close()

  lines.events[0]?.onOpening(() => (ended += 1))

  expect(ended).toBe(1)
})
