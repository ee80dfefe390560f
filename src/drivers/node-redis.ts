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
  type ClusterClient,
  type NodeClient,
  quit,
  type SentinelClient,
  sharedBy,
} from './node-redis/client.ts'
import type { Connections } from './node-redis/connections.ts'
import { explain } from './node-redis/errors.ts'
import { AT_ONCE, QUEUED, queued } from './node-redis/forms.ts'
import { connectionsOf } from './node-redis/kinds.ts'
import { NodeRedisLines } from './node-redis/lines.ts'
import { listenTo } from './node-redis/silence.ts'
import { checkSuitable } from './node-redis/suitable.ts'
import { MISREAD, PendingRuns } from './wire/pending-runs.ts'
import { PrimarySearch } from './wire/primary-search.ts'
import { scatteredRead } from './wire/scattered-read.ts'
import { isInfo, serverInfo } from './wire/server-info.ts'
import { Silence } from './wire/silence.ts'
import { thoseThatAnswer } from './wire/those-that-answer.ts'
import { bytesOf, scriptArguments, type WireArgument, wireArgument } from './wire/wire.ts'

/**
 * A driver for a client, cluster or sentinel client of node-redis 6.2.1 or newer. Connect it first, and listen to the
 * event `error` of a client; without a listener node-redis ends the process when its connection is lost. Throws a
 * TypeError for any other value (such as a pool or a `legacy()` client), for a client in subscriber mode on RESP2, and
 * for one with a `keyPrefix`, which our raw commands would not get. With Sentinel, leave `masterPoolSize` at 1: with
 * more, node-redis (6.3.1) forgets calls.
 */
export function nodeRedis(client: NodeClient | ClusterClient | SentinelClient): Driver {
  checkSuitable(client)
  return new NodeRedisDriver(client, connectionsOf(client))
}

class NodeRedisDriver implements Driver {
  readonly name = 'node-redis'
  readonly address: string
  readonly #connections: Connections
  readonly #pending: PendingRuns<NodeClient>
  readonly #search: PrimarySearch
  readonly #channels: Channels
  readonly #silence: Silence<NodeClient>
  readonly #backlog: ClientBacklog<NodeClient>
  readonly #stopWatching: () => void
  /** The number of operations under way that block sending. */
  #holding = 0
  #closed = false

  constructor(client: object, connections: Connections) {
    this.#pending = new PendingRuns(sharedBy(client), explain, (error) => this.#failed(error))
    this.#connections = connections
    this.address = connections.target
    const isAstray = (error: Error): boolean => connections.isAstray(error)
    this.#search = new PrimarySearch(isAstray, (error) => void this.#findPrimary(error))
    const lines = new NodeRedisLines(connections, {
      read: (calls) => this.read(calls),
      write: (call) => this.write(call),
      info: () => this.info(),
      ask: (node, words) =>
        this.#pending.follow(node.sendCommand(words, this.#forms.text), { key: '', written: true, node }),
    })
    this.#channels = new Channels(lines)
    const listening = listenTo(connections)
    this.#silence = new Silence(this.#pending, listening)
    this.#backlog = new ClientBacklog(this.#pending, listening)
    this.#stopWatching = connections.watch(
      () => this.#channels.doubt(),
      (node, greeted) => {
        const due = this.#pending.follow(greeted, { key: '', written: true, node })
        due.catch(() => undefined) // has no caller
      },
    )
  }

  run(call: ScriptCall): Promise<Reply> {
    const args = scriptArguments(call)
    args.unshift(call.send === 'hash' ? 'EVALSHA' : 'EVAL')
    return this.#send(args, call.keys[0], call.script.bytes ? 'bytes' : 'text', call.by)
  }

  runMany(calls: readonly ScriptCall[]): Promise<Reply>[] {
    return calls.map((call) => this.run(call))
  }

  read(calls: readonly ReadCall[]): Promise<Reply>[] {
    return calls.map((call) =>
      this.#connections.cluster ? scatteredRead(call, (part) => this.#plain(part)) : this.#plain(call),
    )
  }

  write(call: WriteCall): Promise<Reply> {
    return this.#plain(call)
  }

  async load(script: Script): Promise<void> {
    await Promise.all(
      this.#onMasters((master) => master.sendCommand(['SCRIPT', 'LOAD', script.source], this.#forms.text)),
    )
  }

  subscribe(channel: string, listener: Listener): Promise<Subscription> {
    return this.#channels.subscribe(channel, listener)
  }

  async info(): Promise<ServerInfo> {
    const asked = this.#onMasters((master) => master.sendCommand(['INFO', 'server'], this.#forms.text))
    const texts = await thoseThatAnswer(asked)
    const { cluster } = this.#connections
    if (isInfo(texts.map(String))) return serverInfo(texts.map(String), cluster, await this.#database())
    this.#drop(Promise.all(this.#connections.masters()))
    throw new ConnectionLostError(MISREAD, true)
  }

  /** A cluster has only database 0. */
  async #database(): Promise<number | undefined> {
    if (this.#connections.cluster) return undefined
    const { options } = await this.#connections.nodeOf('').catch((error: unknown) => {
      throw explain(error)
    })
    return options?.database
  }

  async wait(key: string, replicas: number, timeoutMs: number): Promise<number> {
    const node = await this.#connections.nodeOf(key).catch((error: unknown) => {
      throw explain(error)
    })
    const answer = node.sendCommand(['WAIT', String(replicas), String(timeoutMs)], this.#forms.text)
    const waitsMs = timeoutMs === 0 ? Infinity : timeoutMs
    return Number(await this.#pending.follow(answer, { key, written: false, waitsMs }))
  }

  /** Bound, so that a driver derived from this one has it too. */
  readonly reconnect = (key: string): void => {
    this.#drop(this.#connections.nodeOf(key).then((node) => [node]))
  }

  /** Bound for the same reason. */
  readonly placeOf = (key: string): string | undefined => this.#connections.addressOf(key)

  healthy(): boolean {
    const isHeard = this.#connections.isReady && !this.#silence.isDoubted
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

  get #forms(): typeof QUEUED {
    return this.#connections.writesAtOnce ? AT_ONCE : QUEUED
  }

  #plain(call: ReadCall): Promise<Reply> {
    const args = call.args.map(wireArgument)
    return this.#send([call.command, ...args], args[0], 'bytes')
  }

  #send(
    args: WireArgument[],
    key: WireArgument | undefined,
    form: 'text' | 'bytes',
    by?: number,
  ): Promise<Reply> {
    const name = String(key ?? '')
    const refusal = this.#refusal(name)
    if (refusal !== undefined) return Promise.reject(new ConnectionLostError(refusal, false))
    const { writesAtOnce } = this.#connections
    const options = writesAtOnce ? AT_ONCE[form] : queued(form, by)
    const answer = this.#connections.send(key, args, options, by)
    return this.#pending.follow(answer, {
      key: name,
      written: writesAtOnce,
      isLarge: form === 'bytes',
      bytes: bytesOf(args),
    })
  }

  #failed(error: Error): void {
    this.#search.note(error)
    this.#channels.doubtAfter(error)
  }

  #refusal(key: string = ''): string | undefined {
    if (this.#closed) return 'the driver is closed'
    if (this.#holding > 0) return 'the client connects again'
    if (!this.#connections.isOpen) return 'the client is closed'
    return this.#backlog.isFull(key) ? TOO_MUCH_DUE : undefined
  }

  async #findPrimary(error: Error): Promise<void> {
    const asked = this.#connections.askRole(error)
    if (asked === null || (await asked)) this.#holdUntil(this.#connections.findPrimary())
  }

  /** Calls sent before the connections are closed would be answered with leftover replies. */
  #drop(nodes: Promise<NodeClient[]>): void {
    this.#pending.giveUp(MISREAD, () => true)
    this.#holdUntil(nodes.then((all) => Promise.all(all.map(quit))))
  }

  #holdUntil(done: Promise<unknown>): void {
    this.#holding++
    // The calls to an unreachable node are lost already.
    done.catch(() => undefined).finally(() => this.#holding--)
  }

  #onMasters(ask: (master: NodeClient) => Promise<unknown>): Promise<Reply>[] {
    const refusal = this.#refusal()
    if (refusal !== undefined) return [Promise.reject(new ConnectionLostError(refusal, false))]
    return this.#connections.masters().map(async (connecting) => {
      const master = await connecting.catch((error: unknown) => {
        const explained = explain(error)
        this.#search.note(explained)
        throw explained
      })
      return this.#pending.follow(ask(master), { key: '', written: false, node: master })
    })
  }
}
