import { Column, Entity, PrimaryGeneratedColumn } from "typeorm";

@Entity("customers")
export class Customer {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: "text" })
  name!: string;
}

/** No constraint keeps a second one for the same customer and day away: whoever counts them finds every mistake. */
@Entity("invoices")
export class Invoice {
  @PrimaryGeneratedColumn()
  number!: number;

  @Column({ type: "int", name: "customer_id" })
  customerId!: number;

  /** The day that it is for. */
  @Column({ type: "text" })
  day!: string;

  @Column({ type: "text", name: "made_by" })
  madeBy!: string;
}
