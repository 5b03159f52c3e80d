use materia_engine::{MemoryJournal, journal_contract};

#[tokio::test]
async fn the_journal_in_memory_keeps_the_contract() {
    journal_contract::holds(&MemoryJournal::default()).await;
}
