import { get, list, put, remove, replace } from '../generated/catalog.ts'
import { checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import { toJson } from '../runtime/values/codec.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'
import { ChangesInTurn } from './changes-in-turn.ts'

/** A name and its document. */
export interface CatalogEntry<Document> {
  readonly name: string
  readonly document: Document
}

export interface Listing<Document> {
  readonly entries: readonly CatalogEntry<Document>[]
  /** The number of names in the catalog. */
  readonly total: number
  /** True when more names follow. */
  readonly more: boolean
}

export interface ListOptions {
  /** List names after this one. Default: from the first. */
  after?: string
  /** The number of names to return at most, 1 to 1,000. Default: 20. */
  limit?: number
}

const MAX_DOCUMENT_BYTES = 1024 * 1024
const MAX_LIMIT = 1000
/** Keyed by runtime, because handles are short-lived. */
const changes = new WeakMap<Runtime, ChangesInTurn>()

/**
 * An ordered list of names, each with a small JSON document, for example the queues of a tenant. A document changes
 * in one step, and never overwrites a change that its author has not seen.
 */
export class Catalog<Document> {
  readonly name: string
  readonly #unit: Unit
  readonly #changes: ChangesInTurn

  constructor(runtime: Runtime, name: string) {
    this.name = checkName('name', name)
    this.#changes = changes.get(runtime) ?? new ChangesInTurn()
    changes.set(runtime, this.#changes)
    this.#unit = new Unit(runtime, { structure: 'catalog', name: this.name, since: '6.2.0' })
  }

  /** Adds a name. Resolves to false, and changes nothing, when the name exists. */
  async put(name: string, document: Document): Promise<boolean> {
    const answer = await this.#unit.run(put, { name: checkName('name', name), document: encode(document) })
    return answer.status === 'created'
  }

  /** The document of a name; null when the name does not exist. */
  async get(name: string): Promise<Document | null> {
    const answer = await this.#unit.run(get, { name: checkName('name', name) })
    return answer.status === 'absent' ? null : decode(answer.document)
  }

  /**
   * Changes a document in one step: `change` gets the current document, and is called again if another caller was
   * faster. Resolves to the new document, or null when the name does not exist.
   */
  update(name: string, change: (document: Document) => Document): Promise<Document | null> {
    return this.#changes.run(`${this.name}\n${name}`, () => this.#update(name, change))
  }

  async #update(name: string, change: (document: Document) => Document): Promise<Document | null> {
    let found = await this.#unit.run(get, { name: checkName('name', name) })
    while (found.status === 'found') {
      const document = change(decode(found.document))
      const answer = await this.#unit.run(replace, { name, seen: found.version, document: encode(document) })
      if (answer.status === 'replaced') return document
      found = answer.status === 'absent' ? answer : { ...answer, status: 'found' }
    }
    return null
  }

  /** Removes a name. Resolves to false when it did not exist. */
  async remove(name: string): Promise<boolean> {
    const answer = await this.#unit.run(remove, { name: checkName('name', name) })
    return answer.status === 'removed'
  }

  /** Lists names in the order of their bytes. */
  async list(options: ListOptions = {}): Promise<Listing<Document>> {
    checkOptions('options', options, ['after', 'limit'])
    const { after = '', limit = 20 } = options
    const answer = await this.#unit.run(list, { after, limit: checkInteger('limit', limit, 1, MAX_LIMIT) })
    const entries = answer.entries.map(({ name, document }) => ({
      name,
      document: decode<Document>(document),
    }))
    return { entries, total: answer.total, more: answer.more }
  }
}

function encode(document: unknown): string {
  const text = toJson('document', document)
  if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) {
    throw new InvalidArgumentError('document', `must be JSON of at most ${MAX_DOCUMENT_BYTES} bytes`)
  }
  return text
}

function decode<Document>(document: Buffer): Document {
  return JSON.parse(document.toString('utf8')) as Document
}
