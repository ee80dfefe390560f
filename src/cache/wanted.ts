import type { Loader } from './loader.ts'
import type { GetTerms } from './options.ts'

/** Who loads, and is told when that is not needed, or not at once. */
export interface LoadedBy<Value> {
  readonly loader: Loader<Value>
  passed(): void
}

/** What one get wants, and who would load it. */
export class Wanted<Value> {
  readonly key: string
  readonly terms: GetTerms
  /** For a value that is absent. */
  readonly absent: LoadedBy<Value>
  /** For one that is served meanwhile. */
  readonly served: LoadedBy<Value>

  constructor(key: string, terms: GetTerms, absent: LoadedBy<Value>, served: LoadedBy<Value> = absent) {
    this.key = key
    this.terms = terms
    this.absent = absent
    this.served = served
  }
}

/** Loads with the same name can be joined. */
export function nameOf({ key, terms }: Pick<Wanted<never>, 'key' | 'terms'>): string {
  return terms.tags.length === 0 ? key : [key, ...terms.tags].join('\0')
}
