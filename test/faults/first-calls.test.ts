// Every public method, as the first call of its process, on a server that does not serve it: each call ends by its
// deadline, by its signal, or with its instance, and nothing else of it is left.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import * as library from 'perilune'
import { type Perilune, perilune } from 'perilune'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { commandOf } from '../programs/fork.ts'
import { freePort } from '../servers/ports.ts'
import { RequestReader } from '../servers/requests.ts'
import type { Mode, Report } from './first-calls.ts'
import { calls, groups } from './public-calls/all.ts'
import type { Outcome, PublicCall } from './public-calls/call.ts'
import { someOf } from '../proof.ts'

const CLIENTS = someOf(['ioredis', 'node-redis'] as const, 1)

describe('the calls of this test', () => {
  /** Known only to our own files, or only for those who extend a class. */
  const INNER = new Set(['addAll', 'comparePlace', 'removeAll', 'round'])
  /** Reached by a member that only subclasses of our own use. */
  const INSIDE = new Set(['CountersPlace'])
  /** Objects that exist only after a successful call, or without an instance. */
  const LATER = new Set(['Attempt', 'BatchHandler', 'Claim', 'ClaimedJob', 'LoadContext', 'PartitionClaim'])
  /** Objects that a call returns at once, and that are closed with it. */
  const GIVEN = new Set(['Campaign', 'Worker'])

  test('are those of every class that can be reached from an instance', () => {
    const reached = new Map<string, object>()
    for (const { open } of groups) reach(open(instance()), reached)

    for (const [name, handle] of reached) {
      if (INSIDE.has(name)) continue
      const known = groups.filter(({ className }) => className === name)
      expect(known, `groups of calls on ${name}`).not.toEqual([])
      const methods = methodsOf(handle).filter((method) => !INNER.has(method))
      for (const { methods: called } of known) expect(called.toSorted(), name).toEqual(methods.toSorted())
    }
  })

  test('include every exported class', () => {
    const known = new Set(groups.map(({ className }) => className))
    const classes = Object.entries(library).filter(([, value]) => isClass(value))
    // Those that others extend have no calls of their own.
    const bases = new Set(classes.map(([, value]) => Object.getPrototypeOf(value)))

    const forgotten = classes.filter(([name, value]) => {
      const isError = (value as { prototype: unknown }).prototype instanceof Error
      return !isError && !known.has(name) && !LATER.has(name) && !GIVEN.has(name) && !bases.has(value)
    })

    expect(forgotten.map(([name]) => name)).toEqual([])
  })
})

const ENDS: Record<Outcome, readonly string[]> = {
  fails: ['unreachable'],
  gives: ['gives'],
  'goes on': ['goes on, closed'],
}

/** Hundreds of calls begin at once: the database of the same process may have its turn after the deadline. */
const ASKS_A_DATABASE = /^(?:Row|Outbox)?Counters\.(?:add|flush|prepare|reconcile|refused)$/

function endsOf({ name, outcome }: PublicCall): readonly string[] {
  return ASKS_A_DATABASE.test(name) ? [...ENDS[outcome], 'sink-unreachable'] : ENDS[outcome]
}

/** A call that was sent may have taken effect. */
function either(call: PublicCall): readonly string[] {
  return call.outcome === 'fails' ? [...endsOf(call), 'ambiguous'] : endsOf(call)
}

test.each([
  ['answers nothing', [silent], endsOf],
  // A client without a ready check sends its first call before the connection is closed.
  ['closes each connection at once, or is not there,', [closing, freePort], either],
])(
  'a first call on a server that %s ends by its deadline, and the process by itself',
  async (_, servers, ends) => {
    for (const report of await tell(servers, 'waiting')) {
      expect(report.unhandled).toEqual([])
      expect(others(report, ends)).toEqual({})
    }
  },
)

test('a call on a server that answers only INFO, HELLO, CLIENT and CLUSTER ends by its deadline', async () => {
  for (const report of await tell([reserved], 'waiting')) {
    expect(report.unhandled).toEqual([])
    expect(others(report, either)).toEqual({})
  }
})

/** A server that rejects plain reads, or the loading of scripts, is unreachable to these. */
const TAKES_IT_FOR_AWAY = /^Cache\.(?:getEntry|loadDetached|set)|^Perilune\.preload$/

// When it is retried until the deadline, the last try may be under way by then, or the client connects to look for the
// primary.
test.each([
  ["OOM command not allowed when used memory > 'maxmemory'.", ['store-full']],
  ["NOPERM this user has no permissions to run the 'evalsha' command", ['forbidden']],
  ["READONLY You can't write against a read only replica.", ['store-read-only', 'ambiguous', 'unreachable']],
  ['LOADING Redis is loading the dataset in memory', ['busy', 'ambiguous', 'unreachable']],
])(
  'a first call on a server that answers %s ends with that error by its deadline',
  async (refusal, codes) => {
    const refused = (call: PublicCall): readonly string[] => [
      ...codes,
      ...(call.outcome === 'fails' ? [] : ENDS[call.outcome]),
      ...(ASKS_A_DATABASE.test(call.name) ? ['sink-unreachable'] : []),
      ...(TAKES_IT_FOR_AWAY.test(call.name) ? ['unreachable'] : []),
    ]

    for (const report of await tell([() => refusing(refusal)], 'refused')) {
      expect(report.unhandled).toEqual([])
      expect(others(report, refused)).toEqual({})
    }
  },
)

test.each([
  ['has aborted before', 'stopped', [silent]],
  ['aborts meanwhile', 'stopping', [silent, reserved]],
] as const)(
  'a call whose signal %s ends with its reason, whatever the server does',
  async (_, mode, servers) => {
    for (const report of await tell(servers, mode)) {
      expect(report.unhandled).toEqual([])
      expect(report.warnings).toEqual([])
      expect(others(report, ({ canBeEnded }) => (canBeEnded ? ['stopped'] : ['not called']))).toEqual({})
    }
  },
)

test('calls under way when their instance closes end at once, and the process by itself', async () => {
  // A build that was not switched in has changed nothing.
  const any = ['closed', 'ambiguous', 'unreachable', 'gives']

  for (const report of await tell([silent, reserved], 'closing')) {
    expect(report.unhandled).toEqual([])
    expect(others(report, ({ name }) => (name.includes('Queue.work') ? ['not called'] : any))).toEqual({})
  }
})

/** How those calls ended that ended otherwise than they may. */
function others({ ends }: Report, mayEnd: (call: PublicCall) => readonly string[]): Record<string, string> {
  const ended = calls.map((call) => [call, ends[call.name] ?? 'not called'] as const)
  const odd = ended.filter(([call, end]) => !mayEnd(call).includes(end))
  return Object.fromEntries(odd.map(([{ name }, end]) => [name, end]))
}

/** Runs all calls in processes, one for each client and server, which end by themselves. */
async function tell(servers: readonly (() => Promise<number>)[], mode: Mode): Promise<Report[]> {
  const ports = await Promise.all(servers.map((serve) => serve()))
  return Promise.all(CLIENTS.flatMap((client) => ports.map((port) => run(client, port, mode))))
}

async function run(client: string, port: number, mode: Mode): Promise<Report> {
  const command = commandOf(new URL('first-calls.ts', import.meta.url))
  const child = spawn(process.execPath, [...command, client, String(port), mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await once(child, 'close')
  return JSON.parse(output)
}

async function silent(): Promise<number> {
  return listen((socket) => socket.resume())
}

async function closing(): Promise<number> {
  return listen((socket) => socket.destroy())
}

/** Forwards the commands by which a client identifies its server, and no others. */
function reserved(): Promise<number> {
  return introducing(() => undefined)
}

/** As `reserved`; answers all other commands with this error, in order. */
function refusing(refusal: string): Promise<number> {
  const words = ['EVAL', 'return redis.error_reply(ARGV[1])', '0', refusal]
  const refuse = [`*${words.length}`, ...words.flatMap((word) => [`$${word.length}`, word]), ''].join('\r\n')
  return introducing((server) => server.write(refuse))
}

async function introducing(beside: (server: Socket) => void): Promise<number> {
  const introductions = /^\*\d+\r\n\$\d+\r\n(?:info|hello|client|cluster)\r\n/i
  return listen((socket) => {
    const reader = new RequestReader()
    const server = connect(inject('redisPort'), '127.0.0.1')
    server.on('error', () => socket.destroy())
    socket.on('close', () => server.destroy())
    server.pipe(socket)
    socket.on('data', (chunk) => {
      for (const request of reader.read(chunk)) {
        if (introductions.test(request.toString('latin1'))) server.write(request)
        else beside(server)
      }
    })
  })
}

async function listen(serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    serve(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

/** Nothing is asked of it. */
function instance(): Perilune {
  const nothing = async (): Promise<never> => {
    throw new Error('nothing is to be asked')
  }
  const asks = {
    run: nothing,
    runMany: () => [],
    read: () => [],
    write: nothing,
    load: nothing,
    wait: nothing,
  }
  const rest = { subscribe: nothing, info: nothing, healthy: () => true, close: async () => undefined }
  return perilune({ name: 'none', ...asks, ...rest })
}

/** A handle, and all handles that its properties lead to, by the names of their classes. */
function reach(handle: object, reached: Map<string, object>): void {
  const { name } = handle.constructor
  if (reached.has(name)) return
  reached.set(name, handle)
  for (const owner of chainOf(handle)) {
    for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      if (key === 'constructor' || INTERNAL.has(key) || typeof property.value === 'function') continue
      const value: unknown = Reflect.get(handle, key)
      if (isHandle(value)) reach(value, reached)
    }
  }
}

/** Of our own files. */
const INTERNAL = new Set(['deadlines', 'runtime', 'unit', 'terms'])

function methodsOf(handle: object): string[] {
  const all = chainOf(handle).flatMap((owner) =>
    Reflect.ownKeys(owner).filter(
      (key) => typeof Object.getOwnPropertyDescriptor(owner, key)?.value === 'function',
    ),
  )
  return [...new Set(all.map(String))].filter((name) => name !== 'constructor')
}

/** The object and its prototypes, but for that of all objects. */
function chainOf(handle: object): object[] {
  const chain: object[] = []
  for (let each = handle; each !== Object.prototype; each = Object.getPrototypeOf(each)) chain.push(each)
  return chain
}

function isHandle(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.getPrototypeOf(value) !== Object.prototype
}

function isClass(value: unknown): boolean {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))
}
