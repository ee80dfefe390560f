import type { Cluster, Redis } from 'ioredis'
import {
  ConnectionLostError,
  type Driver,
  type Listener,
  type ReadCall,
  type Reply,
  type Script,
  type ScriptCall,
  type ServerInfo,
  type Subscription,
  type WriteCall,
} from '../driver.ts'
import { ClientBacklog, TOO_MUCH_DUE } from './wire/backlog.ts'
import { Channels } from './channels/channels.ts'
import {
  addressOf,
  databaseOf,
  isCluster,
  nodeAt,
  ownerOf,
  readiness,
  searchOf,
  takenBy,
  targetOf,
  watch,
  writesAtOnce,
} from './ioredis/client.ts'
import { explain } from './ioredis/errors.ts'
import { IoredisLines } from './ioredis/lines.ts'
import { type SendCommand, senderOf } from './ioredis/commands.ts'
import { listenTo } from './ioredis/silence.ts'
import { checkSuitable } from './ioredis/suitable.ts'
import { MISREAD, type PendingRun, PendingRuns, type Sent } from './wire/pending-runs.ts'
import type { PrimarySearch } from './wire/primary-search.ts'
import { scatteredRead } from './wire/scattered-read.ts'
import { isInfo, serverInfo } from './wire/server-info.ts'
import { Silence } from './wire/silence.ts'
import { thoseThatAnswer } from './wire/those-that-answer.ts'
import { bytesOf, scriptArguments, type WireArgument, wireArgument } from './wire/wire.ts'

/**
 * A driver for a client of ioredis 5.11.1 or newer: a single server, Sentinel or Cluster. Throws a TypeError for any
 * other value, and for a client that is in subscriber mode, renames keys (`keyPrefix`) or changes replies
 * (`stringNumbers`, `replyMapping`).
 */
export function ioredis(client: Redis | Cluster): Driver {
  checkSuitable(client)
  return new IoredisDriver(client)
}

/** More properties of a sent call. */
type More = Pick<Sent<Redis>, 'node' | 'waitsMs' | 'bytes' | 'fate'>

class IoredisDriver implements Driver {
  readonly name = 'ioredis'
  readonly address: string
  readonly #client: Redis | Cluster
  readonly #cluster: Cluster | undefined
  readonly #callClient: SendCommand
  readonly #pending: PendingRuns<Redis>
  readonly #search: PrimarySearch | null
  readonly #channels: Channels
  readonly #silence: Silence<Redis>
  readonly #backlog: ClientBacklog<Redis>
  readonly #stopWatching: () => void
  #corked: Redis['stream'][] = []
  #turnBegan = false
  #isTogether = false
  #closed = false

  constructor(client: Redis | Cluster) {
    this.#client = client
    this.address = targetOf(client)
    this.#pending = new PendingRuns(client, explain, (error) => this.#failed(error))
    this.#cluster = isCluster(client) ? client : undefined
    this.#callClient = senderOf(client)
    const lines = new IoredisLines(client, {
      read: (calls) => this.read(calls),
      write: (call) => this.write(call),
      info: () => this.info(),
      follow: (send, node) => this.#follow('', send, { node }),
    })
    this.#channels = new Channels(lines)
    this.#search = searchOf(client)
    const listening = listenTo(client)
    this.#silence = new Silence(this.#pending, listening)
    this.#backlog = new ClientBacklog(this.#pending, listening)
    this.#stopWatching = watch(client, this.#pending, () => this.#channels.doubt())
  }

  run(call: ScriptCall): Promise<Reply> {
    const command = call.send === 'hash' ? 'evalsha' : 'eval'
    return this.#send(command, scriptArguments(call), call.keys[0] ?? '', call.script.bytes, call.by)
  }

  runMany(calls: readonly ScriptCall[]): Promise<Reply>[] {
    return this.#together(calls, (call) => this.run(call))
  }

  read(calls: readonly ReadCall[]): Promise<Reply>[] {
    return this.#together(calls, (call) =>
      this.#cluster ? scatteredRead(call, (part) => this.#plain(part)) : this.#plain(call),
    )
  }

  write(call: WriteCall): Promise<Reply> {
    return this.#plain(call)
  }

  async load(script: Script): Promise<void> {
    await Promise.all(
      await this.#onMasters((master) => senderOf(master)('script', ['load', script.source], false)),
    )
  }

  subscribe(channel: string, listener: Listener): Promise<Subscription> {
    return this.#channels.subscribe(channel, listener)
  }

  async info(): Promise<ServerInfo> {
    const asked = await this.#onMasters((master) => senderOf(master)('info', ['server'], false))
    const texts = await thoseThatAnswer(asked)
    if (isInfo(texts.map(String)))
      return serverInfo(texts.map(String), this.#cluster !== undefined, databaseOf(this.#client))
    this.#drop(this.#masters(), () => true)
    throw new ConnectionLostError(MISREAD, true)
  }

  async wait(key: string, replicas: number, timeoutMs: number): Promise<number> {
    const node = this.#cluster ? nodeAt(this.#cluster, ownerOf(this.#cluster, key)) : this.#client
    if (node === undefined) throw new ConnectionLostError('no connection to the node of the key', false)
    const args = [String(replicas), String(timeoutMs)]
    const waitsMs = timeoutMs === 0 ? Infinity : timeoutMs
    return Number(await this.#follow(key, () => senderOf(node)('wait', args, false), { waitsMs }))
  }

  /** Bound, so that a driver derived from this one has it too. */
  readonly reconnect = (key: string): void => {
    const cluster = this.#cluster
    const owner = cluster && ownerOf(cluster, key)
    const nodes = this.#masters().filter((node) => cluster === undefined || addressOf(node) === owner)
    this.#drop(nodes, ({ key: keyOf, node }) => {
      if (node !== undefined) return nodes.includes(node)
      return cluster === undefined || ownerOf(cluster, keyOf) === owner
    })
  }

  /** Bound for the same reason. */
  readonly placeOf = (key: string): string | undefined => this.#cluster && ownerOf(this.#cluster, key)

  healthy(): boolean {
    const isHeard = this.#client.status === 'ready' && !this.#silence.isDoubted
    return !this.#closed && isHeard && this.#channels.healthy()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stopWatching()
    this.#silence.close()
    this.#backlog.close()
    this.#channels.close()
    this.#pending.giveUp('the driver was closed', () => true)
  }

  /** In upper case, because for `hgetall` ioredis would turn the reply into an object. */
  #plain(call: ReadCall): Promise<Reply> {
    const args = call.args.map(wireArgument)
    return this.#send(call.command.toUpperCase(), args, String(args[0] ?? ''), true)
  }

  #send(command: string, args: WireArgument[], key: string, bytes: boolean, by?: number): Promise<Reply> {
    const refusal = this.#refusal(key)
    if (refusal !== undefined) return Promise.reject(new ConnectionLostError(refusal, false))
    this.#gather()
    const client = this.#client
    const isKept = isCluster(client) || !writesAtOnce(client)
    const fate = isKept ? { by, isOver: false } : undefined
    const send = (): Promise<unknown> => this.#callClient(command, args, bytes, fate)
    return this.#follow(key, send, { bytes: bytesOf(args), fate })
  }

  #follow(
    key: string,
    send: () => Promise<unknown>,
    { node, waitsMs, bytes, fate }: More = {},
  ): Promise<Reply> {
    const client = this.#client
    // Read before sending, because writing to a broken connection may end it.
    const atOnce = isCluster(client) || writesAtOnce(client)
    const before = atOnce ? 0 : takenBy(client)
    const answer = send()
    const written = atOnce || takenBy(client) > before
    return this.#pending.follow(answer, { key, written, node, waitsMs, bytes, fate })
  }

  #failed(error: Error): void {
    this.#search?.note(error)
    this.#channels.doubtAfter(error)
  }

  #refusal(key: string = ''): string | undefined {
    if (this.#closed) return 'the driver is closed'
    if (this.#client.status === 'end') return 'the client is closed'
    return this.#backlog.isFull(key) ? TOO_MUCH_DUE : undefined
  }

  /** Sends all calls at once in a single write. */
  #together<Call>(calls: readonly Call[], send: (call: Call) => Promise<Reply>): Promise<Reply>[] {
    if (calls.length < 2) return calls.map(send)
    const streams = this.#cork()
    this.#isTogether = true
    try {
      return calls.map(send)
    } finally {
      this.#isTogether = false
      for (const stream of streams) stream.uncork()
    }
  }

  /**
   * ioredis writes each command separately. The first one of an event loop turn is sent at once, so that the server can
   * begin. Those after it are corked and sent in one write.
   */
  #gather(): void {
    if (this.#isTogether || this.#pending.idle) return
    if (!this.#turnBegan) {
      this.#turnBegan = true
      setImmediate(() => this.#endTurn())
    } else if (this.#corked.length === 0) {
      this.#corked = this.#cork()
    }
  }

  #cork(): Redis['stream'][] {
    const streams = this.#masters()
      .map(({ stream }) => stream)
      .filter((stream) => stream?.writable)
    for (const stream of streams) stream.cork()
    return streams
  }

  #endTurn(): void {
    this.#turnBegan = false
    const corked = this.#corked
    this.#corked = []
    for (const stream of corked) stream.uncork()
  }

  #masters(): Redis[] {
    return isCluster(this.#client) ? this.#client.nodes('master') : [this.#client]
  }

  #drop(nodes: readonly Redis[], isOfThem: (run: PendingRun<Redis>) => boolean): void {
    this.#pending.giveUp(MISREAD, isOfThem)
    // Of several misread replies only the first one ends the connection.
    for (const node of nodes) if (writesAtOnce(node)) node.disconnect(true)
  }

  async #onMasters(ask: (master: Redis) => Promise<unknown>): Promise<Promise<Reply>[]> {
    const refusal = this.#refusal()
    if (refusal !== undefined) throw new ConnectionLostError(refusal, false)
    // Until a cluster has answered once, ioredis knows only its configured nodes, whatever their role.
    const cluster = this.#cluster
    if (cluster !== undefined && cluster.status !== 'ready') await this.#follow('', () => readiness(cluster))
    const masters = this.#masters()
    if (masters.length === 0) throw new ConnectionLostError('the cluster has no node', false)
    return masters.map((master) => this.#follow('', () => ask(master), { node: master }))
  }
}
