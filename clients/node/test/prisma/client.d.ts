// What the generator makes, as far as the tests use it.
interface Raw {
  $executeRawUnsafe(sql: string, ...params: unknown[]): Promise<number>;
  $queryRawUnsafe<T = unknown>(sql: string, ...params: unknown[]): Promise<T>;
}

export class PrismaClient implements Raw {
  constructor(options: { adapter: unknown });
  $executeRawUnsafe(sql: string, ...params: unknown[]): Promise<number>;
  $queryRawUnsafe<T = unknown>(sql: string, ...params: unknown[]): Promise<T>;
  $transaction<T>(fn: (tx: Raw) => Promise<T>, options?: { timeout?: number; maxWait?: number }): Promise<T>;
  $disconnect(): Promise<void>;
}
